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
        uint64_t finished = 0;
        for (int offset = 0; offset < team.size; ++offset) {
            const int queue = (member + offset) % team.size;
            const int64_t begin = tasks * queue / team.size, end = tasks * (queue + 1) / team.size;
            for (int64_t claimed; (claimed = claim(queue, end - begin)) >= 0; ++finished) task(begin + claimed);
        }
        if (finished) __atomic_fetch_add(&team.done.value, finished, __ATOMIC_ACQ_REL);
        wait();
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

    void wait() {
        for (int spins = 0; __atomic_load_n(&team.done.value, __ATOMIC_ACQUIRE) < target; ++spins) {
            if (spins > 400) {
                give_way();
            } else {
#if defined(__x86_64__)
                __builtin_ia32_pause();
#elif defined(__aarch64__)
                asm volatile("yield");
#endif
            }
        }
    }

    Team& team;
    const int member;
    uint64_t number = 0, target = 0;
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
