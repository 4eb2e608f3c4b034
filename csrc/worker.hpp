// A member of a team going through phases: see team.hpp.
#pragma once

#include "team.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

class Worker {
public:
    Worker(Team& team, int member) : team(team), member(member) {}

    int members() const { return team.size; }

    // Run task(0) .. task(tasks - 1) once each, whoever takes them, and return when all of them are done. All members
    // go through the same phases with the same number of tasks.
    template <class Task>
    void phase(int64_t tasks, Task task) {
        if (team.size == 1) {
            for (int64_t i = 0; i < tasks; ++i) task(i);
            return;
        }
        ++number, target += tasks;
        take_from(member, tasks, task);
        for (int spins = 0; !all_finished(); ++spins) {
            if (spins < kPatience) {
                rest();
                continue;
            }
            for (int offset = 1; offset < team.size; ++offset) take_from((member + offset) % team.size, tasks, task);
            if (spins > kPatience + 100) {
                give_way();
            } else {
                rest();
            }
        }
    }

private:
    // The next task of a queue, -1 if there is none left in this phase.
    int64_t claim(int queue, int64_t tasks) {
        uint64_t* line = &team.claimed[queue].value;
        uint64_t seen = __atomic_load_n(line, __ATOMIC_ACQUIRE);
        for (;;) {
            if (seen >> 32 > number) return -1;  // the others are further on: this phase is over
            const int64_t next = seen >> 32 == number ? int64_t(seen & 0xffffffffu) : 0;
            if (next >= tasks) return -1;
            if (__atomic_compare_exchange_n(line, &seen, number << 32 | uint64_t(next + 1), false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return next;
        }
    }

    template <class Task>
    void take_from(int queue, int64_t tasks, Task task) {
        const int64_t begin = tasks * queue / team.size, end = tasks * (queue + 1) / team.size;
        uint64_t done = 0;
        for (int64_t claimed; (claimed = claim(queue, end - begin)) >= 0; ++done) task(begin + claimed);
        uint64_t* mine = &team.finished[member].value;
        if (done) __atomic_store_n(mine, *mine + done, __ATOMIC_RELEASE);
    }

    bool all_finished() const {
        uint64_t sum = 0;
        for (int i = 0; i < team.size; ++i) sum += __atomic_load_n(&team.finished[i].value, __ATOMIC_ACQUIRE);
        return sum >= target;
    }

    static void rest() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    static constexpr int kPatience = 400;  // rests before helping others: some microseconds

    Team& team;
    const int member;
    uint64_t number = 0, target = 0;
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
