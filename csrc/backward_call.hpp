// One backward call: its memory, its team, and the gradients that need no walk.
#pragma once

#include "backward.hpp"
#include "constants.hpp"
#include "gradients.hpp"
#include "threading.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
struct BackwardCall {
    using L = Lanes<T>;

    Sequence<T> q;
    Sequence<T> to;  // the same call with the gradients in place of the weights
    const CellMath<T>& math;
    const int members;
    Back to_h, to_extra, to_x;
    T *packed_h, *packed_extra, *packed_x, *room, *workspaces;
    int64_t workspace;  // elements that a share of a weight gradient needs

    BackwardCall(const Call& call, const Weights& weights, const Numbers& numbers, const Plan& plan, const Grads& grads,
                 const Weights& weight_grads, const CellMath<T>& math)
        : q(call, weights, numbers, plan, &grads),
          to(call, weight_grads, numbers, plan, &grads),
          math(math),
          members(members_for(call, 3 * products_of(q))) {
        turn(to_h, q.call.width(), q.main, q.main.h);
        if (q.has_second()) turn(to_extra, q.units, q.second, q.second.h);
        if (grads.dx) {
            to_x.width = call.input_size, to_x.stages[0] = &q.main, to_x.sides[0] = &q.main.x;
            if (q.second.x.depth) to_x.stages[1] = &q.second, to_x.sides[1] = &q.second.x;
        }
        const int64_t rows = ceil_div(ceil_div(deepest(), kRows), members) * kRows;
        workspace = WeightGradient<T>::workspace_size(rows);
    }
    BackwardCall(const BackwardCall&) = delete;

    void run() {
        const bool carries = q.call.cell < kTanh, has_cells = q.call.cell == kLstm;
        const int64_t rows = q.plan.pieces * q.padded;
        const int64_t sizes[] = {to_h.packed_size<T>(), to_extra.packed_size<T>(), to_x.packed_size<T>(),
                                 carries ? rows : 0,    has_cells ? rows : 0,      gradient(0).size(),
                                 gradient(1).size(),    workspace * shares()};
        int64_t bytes = constants_size(q);
        for (const int64_t size : sizes) bytes += aligned(size * sizeof(T));
        Scratch scratch(bytes);
        place_constants(q, scratch);
        q.place_kept(at<T>(q.call.saved), q.plan.total);
        T* parts[8];
        for (int i = 0; i < 8; ++i) parts[i] = sizes[i] ? static_cast<T*>(scratch.take(sizes[i] * sizeof(T))) : nullptr;
        packed_h = parts[0], packed_extra = parts[1], packed_x = parts[2];
        q.carry = parts[3], q.c_begin = parts[4];
        rooms[0] = parts[5], rooms[1] = parts[6], workspaces = parts[7];
        run_team(members, is_brief(3 * products_of(q)), member, this);
    }

private:
    T* rooms[2] = {};

    void turn(Back& back, int64_t width, const Stage& stage, const Side& side) {
        back.width = width, back.stages[0] = &stage, back.sides[0] = &side;
        if (back.panels<T>() < members) back.vectors = 2;  // so that every member has some
    }

    int64_t deepest() const {
        const int64_t main = q.main.x.depth + q.main.h.depth, second = q.second.x.depth + q.second.h.depth;
        return main > second ? main : second;
    }
    int64_t shares() const { return members * (q.has_second() ? 2 : 1); }

    static void member(void* given, Team& team, int number) {
        BackwardCall& all = *static_cast<BackwardCall*>(given);
        Worker worker(team, number);
        const int64_t bytes = all.to_h.template packed_size<T>() * sizeof(T);
        const int64_t together = shared_from(all.q.plan, bytes, worker.members());
        Backward<T>{all.q,        all.math,         all.to_h,     all.to_extra, all.to_x,
                    all.packed_h, all.packed_extra, all.packed_x, together}
            .run(worker);
        all.run_gradients(worker);
    }

    WeightGradient<T> gradient(int which) const {
        if (which == 0) return {q, to.main, q.gates, nullptr, rooms[0]};
        return {q, to.second, q.gates2, q.extra, rooms[1]};
    }

    void run_gradients(Worker& worker) {
        const int64_t batch = to_x.template panels<T>() ? q.call.batch : 0;
        const int64_t chunks = batch ? ceil_div(q.plan.total, kChunk) : 0;
        const int64_t peepholes = q.peephole ? q.padded / L::kWidth : 0;
        worker.phase(shares() + chunks + peepholes + batch, [&](int64_t task) {
            if (task < shares()) return share_of_weights(task);
            task -= shares();
            if (task < chunks) {
                const int64_t begin = task * kChunk, end = begin + kChunk;
                input_gradient(q, to_x, packed_x, begin, end < q.plan.total ? end : q.plan.total);
            } else if (task < chunks + peepholes) {
                peephole_gradient(q, to.weights, (task - chunks) * L::kWidth);
            } else {
                clear_dx_padding(q, task - chunks - peepholes);
            }
        });
    }

    void share_of_weights(int64_t task) {
        const WeightGradient<T> one = gradient(int(task / members));
        const int64_t depth = one.depth(), blocks = ceil_div(depth, kRows), share = task % members;
        const int64_t begin = blocks * share / members * kRows, end = blocks * (share + 1) / members * kRows;
        // of few rows many shares are empty; the first one that is not also writes the biases beside x
        if (begin < end) one.run(begin, end < depth ? end : depth, workspaces + task * workspace);
    }
};

template <class T>
void run_backward(const Call& call, const Weights& weights, const Numbers& numbers, const Grads& grads,
                  const Weights& weight_grads, const CellMath<T>& math) {
    const Plan plan(call);
    BackwardCall<T>(call, weights, numbers, plan, grads, weight_grads, math).run();
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
