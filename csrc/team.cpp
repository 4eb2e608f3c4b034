#include "team.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace dynrnn {
namespace {

bool in_child = false;
const int watch_forks = pthread_atfork(nullptr, nullptr, [] { in_child = true; });

#ifdef _OPENMP
constexpr double kLate = 1e-3;  // seconds; a sleeping thread of an idle core is there sooner
constexpr int kLongest = 1024;  // brief calls on one thread before a team is tried again, at most
std::atomic<int> alone{0}, penalty{1};

bool stays_alone() {
    const int left = alone.load(std::memory_order_relaxed);
    if (left > 0) alone.store(left - 1, std::memory_order_relaxed);
    return left > 0;
}

// The more often a member is late, one time after the other, the longer brief calls stay alone.
void remember(bool late) {
    const int now = penalty.load(std::memory_order_relaxed);
    if (late) alone.store(now, std::memory_order_relaxed);
    const int next = late ? 4 * now : now / 2;
    penalty.store(next > kLongest ? kLongest : next > 0 ? next : 1, std::memory_order_relaxed);
}
#endif

// Only the lines of members that there can be are touched.
struct NewTeam {
    Team* team;
    explicit NewTeam(int members) : team(static_cast<Team*>(std::aligned_alloc(alignof(Team), sizeof(Team)))) {
        if (!team) throw std::bad_alloc();
        team->size = 1, team->held_up = 0;
        for (int i = 0; i < members; ++i) team->finished[i].value = team->claimed[i].value = 0;
    }
    ~NewTeam() { std::free(team); }
    NewTeam(const NewTeam&) = delete;
};

}  // namespace

void run_team(int threads, bool brief, Member member, void* context) {
    (void)watch_forks;
    if (threads > kMaxThreads) threads = kMaxThreads;
    const NewTeam made(threads);
    Team* const team = made.team;
#ifdef _OPENMP
    if (threads > 1 && !in_child && !omp_in_parallel() && !(brief && stays_alone())) {
        const double begin = omp_get_wtime();
        bool late = false;
#pragma omp parallel num_threads(threads)
        {
            if (omp_get_wtime() - begin > kLate) {
#pragma omp atomic write
                late = true;
            }
#pragma omp single
            team->size = omp_get_num_threads();  // fewer than asked for may have been granted
            member(context, *team, omp_get_thread_num());
        }
        remember(late || (brief && team->held_up));
        return;
    }
#else
    (void)brief;
#endif
    member(context, *team, 0);
}

double give_way(Team& team, double since) {
    sched_yield();
#ifdef _OPENMP
    const double now = omp_get_wtime();
    if (since == 0) return now;
    if (now - since > kLate) __atomic_store_n(&team.held_up, 1, __ATOMIC_RELAXED);
#else
    (void)team;
#endif
    return since;
}

}  // namespace dynrnn
