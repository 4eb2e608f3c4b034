// A member of a team going through phases: see team.hpp.
#pragma once

#include "team.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

// How the tasks of each queue are taken: so many at once, from its end on or from its beginning.
struct Order {
    int64_t at_once = 1;
    bool backwards = false;
};

class Worker {
public:
    Worker(Team& team, int member) : team(team), member(member) {}

    int members() const { return team.size; }
    int which() const { return member; }

    // Run task(0) .. task(tasks - 1) once each, whoever takes them, and return when all of them are done. All members
    // go through the same phases with the same number of tasks.
    template <class Task>
    void phase(int64_t tasks, Task task) {
        phase(tasks, Order{}, task, [](int64_t, int64_t) {});
    }

    // meanwhile(begin, end) is called before waiting for the others if this member did its own tasks [begin, end) all
    // by itself.
    template <class Task, class Meanwhile>
    void phase(int64_t tasks, Order order, Task task, Meanwhile meanwhile) {
        if (team.size == 1) {
            for (int64_t i = 0; i < tasks; ++i) task(order.backwards ? tasks - 1 - i : i);
            return;
        }
        ++number, target += tasks;
        const int64_t begin = first_of(member, tasks), end = first_of(member + 1, tasks);
        if (take_from(member, tasks, order, task) == end - begin) meanwhile(begin, end);
        double waiting_since = 0;
        for (int spins = 0; !all_finished(); ++spins) {
            if (spins < kPatience) {
                rest();
                continue;
            }
            for (int offset = 1; offset < team.size; ++offset)
                take_from((member + offset) % team.size, tasks, order, task);
            if (spins > kPatience + 100) {
                waiting_since = give_way(team, waiting_since);
            } else {
                rest();
            }
        }
    }

private:
    // The first of the next tasks of a queue, -1 if there is none left in this phase.
    int64_t claim(int queue, int64_t tasks, int64_t at_once) {
        uint64_t* line = &team.claimed[queue].value;
        uint64_t seen = __atomic_load_n(line, __ATOMIC_ACQUIRE);
        for (;;) {
            if (seen >> 32 > number) return -1;  // the others are further on: this phase is over
            const int64_t next = seen >> 32 == number ? int64_t(seen & 0xffffffffu) : 0;
            if (next >= tasks) return -1;
            if (__atomic_compare_exchange_n(line, &seen, number << 32 | uint64_t(next + at_once), false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                return next;
        }
    }

    int64_t first_of(int queue, int64_t tasks) const { return tasks * queue / team.size; }

    template <class Task>
    int64_t take_from(int queue, int64_t tasks, Order order, Task task) {
        const int64_t begin = first_of(queue, tasks), many = first_of(queue + 1, tasks) - begin;
        int64_t done = 0;
        for (int64_t i; (i = claim(queue, many, order.at_once)) >= 0;)
            for (const int64_t end = i + order.at_once; i < end && i < many; ++i, ++done)
                task(begin + (order.backwards ? many - 1 - i : i));
        uint64_t* mine = &team.finished[member].value;
        if (done) __atomic_store_n(mine, *mine + uint64_t(done), __ATOMIC_RELEASE);
        return done;
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
