// Threads: one team for a whole call, whose members go through the same phases and claim the tasks of each.
#pragma once

#include <cstdint>

namespace dynrnn {

constexpr int kMaxThreads = 128;

// What a team shares, a line of the cache for each value, because lines are slow to go from core to core. Each member
// has a queue of its own and helps others only when it has waited for them for a while, so that a member whose core is
// taken away delays a phase by the task it holds, not by all of its share.
struct Team {
    struct alignas(128) Line {
        uint64_t value;
    };
    int size;
    int32_t held_up;             // whether a member has waited for others as long as if they had been kept away
    Line finished[kMaxThreads];  // by each member: tasks that it has finished in all phases so far
    Line claimed[kMaxThreads];   // of each member's queue: phase << 32 | tasks claimed in it
};

using Member = void (*)(void* context, Team& team, int member);

// Call `member` once on each of up to `threads` threads of OpenMP's pool, which is torch's; on one thread in a child of
// fork, where the pool is gone. A call that is `brief` (a few milliseconds on one thread) also stays on one thread for
// a while after other processes were seen to hold the cores, at its beginning or within: it would wait for its team
// longer than it works.
void run_team(int threads, bool brief, Member member, void* context);

// Let others run: to be called after a while of waiting, since `since` (0 the first time), which it returns. Notes in
// the team when that becomes too long.
double give_way(Team& team, double since);

}  // namespace dynrnn
