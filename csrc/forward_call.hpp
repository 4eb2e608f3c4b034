// One forward call: its memory and its team.
#pragma once

#include "constants.hpp"
#include "forward.hpp"
#include "threading.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
void pack_stages(const Sequence<T>& q, T* packed) {
    for (int64_t panel = 0; panel < q.main.template panels<T>(); ++panel) pack_panel(q.main, panel, packed);
    if (!q.has_second()) return;
    packed += q.main.template packed_size<T>();
    for (int64_t panel = 0; panel < q.second.template panels<T>(); ++panel) pack_panel(q.second, panel, packed);
}

template <class T>
void run_forward(const Call& call, const Weights& weights, const Numbers& numbers, const CellMath<T>& math) {
    const Plan plan(call);
    Sequence<T> q(call, weights, numbers, plan, nullptr);
    const int64_t kept = q.training ? 0 : q.kept_size(plan.pieces),
                  packed = call.packed || plan.total <= kDirect ? 0 : q.packed_size();
    const int64_t begin = q.training && call.cell == kLstm ? plan.pieces * q.padded : 0;
    const int members = members_for(call, products_of(q));
    const int64_t ahead = 2 * members * Ahead<T>::size(q);  // no more groups than that
    Scratch scratch(constants_size(q) + aligned(ahead * sizeof(T)) + aligned(kept * sizeof(T)) +
                    aligned(packed * sizeof(T)) + aligned(begin * sizeof(T)));
    const auto take = [&](int64_t size) { return static_cast<T*>(scratch.take(size * sizeof(T))); };
    place_constants(q, scratch);
    if (q.training) {
        q.place_kept(at<T>(call.saved), plan.total);
    } else {
        q.place_kept(take(kept), plan.pieces);
    }
    q.c_begin = take(begin);
    T* const room = packed ? take(packed) : nullptr;
    q.packed = call.packed ? at<const T>(call.packed) : room;

    struct Context {
        Sequence<T>& q;
        const CellMath<T>& math;
        T *room, *ahead;
    } context{q, math, room, take(ahead)};
    const auto member = [](void* given, Team& team, int number) {
        Context& context = *static_cast<Context*>(given);
        Sequence<T>& q = context.q;
        Worker worker(team, number);
        const int64_t together = shared_from(q.plan, q.packed_size() * sizeof(T), worker.members());
        Forward<T>{q, context.math, context.room, context.ahead, together}.run(worker);
    };
    run_team(members, is_brief(products_of(q)), member, &context);
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
