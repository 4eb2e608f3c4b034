// The walk forward: products and elementwise parts of every step, for rows that run and for no others.
#pragma once

#include "rows.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
struct Forward {
    using L = Lanes<T>;

    Sequence<T>& q;
    const CellMath<T>& math;
    T* packed;         // room for packed weights, null if they came packed
    int64_t together;  // from this step on all members share each step; before it each walks rows of its own

    void run(Worker& worker) {
        prepare(worker);
        const Groups groups(q.plan.pieces, worker.members());
        if (together > 0) worker.phase(groups.count, [&](int64_t group) { walk_group(groups.of(group)); });
        for (int64_t s = together; s < q.plan.steps; ++s) {
            share_step(worker, q.main, s);
            if (q.has_second()) share_step(worker, q.second, s);
        }
        finish(worker);
    }

private:
    const T* packed_of(const Stage& stage) const {
        return q.packed + (&stage == &q.second ? q.main.template packed_size<T>() : 0);
    }

    void prepare(Worker& worker) {
        const int64_t first = q.main.template panels<T>();
        const int64_t panels = packed ? first + (q.has_second() ? q.second.template panels<T>() : 0) : 0;
        worker.phase(panels + 1 + q.call.batch, [&](int64_t task) {
            if (task < panels) {
                if (task < first) {
                    pack_panel(q.main, task, packed);
                } else {
                    pack_panel(q.second, task - first, packed + q.main.template packed_size<T>());
                }
            } else if (task == panels) {
                begin_cells();
            } else {
                clear_padding(task - panels - 1);
            }
        });
    }

    void begin_cells() {
        if (!q.cells) return;
        T* begin = q.training ? q.c_begin : q.cells;
        const T* given = at<const T>(q.call.c0);
        for (int64_t r = 0; r < q.plan.pieces; ++r)
            copy_row(begin + r * q.padded, given ? given + q.plan.piece[r] * q.units : nullptr, q.units, q.padded);
    }

    void clear_padding(int64_t row) {
        T* const gates[] = {at<T>(q.call.gate0), at<T>(q.call.gate1), at<T>(q.call.gate2), at<T>(q.call.gate3)};
        for (int64_t t = q.plan.end[row]; t < q.call.time; ++t) {
            std::memset(q.out + row * q.call.out_row + t * q.call.out_time, 0, q.call.width() * sizeof(T));
            for (T* gate : gates)
                if (gate) std::memset(gate + row * q.call.trace_row + t * q.call.trace_time, 0, q.units * sizeof(T));
        }
    }

    void walk_group(const Rows& group) {
        for (int64_t s = 0; s < together; ++s) {
            const Rows rows = group.below(q.plan.running[s]);
            if (!rows.count) return;
            for (const Stage* stage : {&q.main, &q.second})
                for (int64_t panel = 0; stage->gates && panel < stage->template panels<T>(); ++panel)
                    run_panel(*stage, s, panel, rows);
        }
    }

    void share_step(Worker& worker, const Stage& stage, int64_t s) {
        const int64_t panels = stage.template panels<T>();
        const Parts parts(q.plan.running[s], panels, worker.members());
        worker.phase(panels * parts.count,
                     [&](int64_t task) { run_panel(stage, s, task / parts.count, parts.of(task % parts.count)); });
    }

    void run_panel(const Stage& stage, int64_t s, int64_t panel, const Rows& rows) {
        const bool main = &stage == &q.main;
        const int shape = stage.template shape<T>(panel), vectors = vectors_of(shape);
        const T* weights = packed_of(stage);
        const T* start = weights + panel * kPanel * L::kWidth;
        const Epilogue<T> epilogue = main ? math.forward : math.forward_second;
        const int64_t unit = panel * kPanel / stage.gates * L::kWidth;
        Operand<T> left, right;
        left.segments = right.segments = 1;
        left.length = stage.x.depth, right.length = stage.h.depth;
        alignas(kBytes) T sums[kRows * kPanel * L::kWidth];
        const Blocks blocks(rows.count);
        for (int64_t block = 0; block < blocks.count; ++block) {
            const int64_t begin = blocks.begin(block), many = blocks.begin(block + 1) - begin;
            for (int64_t i = 0; i < many; ++i) {
                const int64_t r = rows.at(begin + i);
                left.rows[i] = q.x_of(r, s);
                right.rows[i] = main ? q.h_before(r, s) : q.extra + q.slot(r, s) * q.padded;
            }
            tile<T>(int(many), shape)(left, right, weights + stage.template panel_at<T>(panel), start, 0, sums);
            for (int64_t i = 0; i < many; ++i)
                epilogue(q, rows.at(begin + i), s, unit, vectors, sums + i * vectors * L::kWidth);
        }
    }

    void finish(Worker& worker) {
        if (!q.call.hn && !q.call.cn) return;
        worker.phase(1, [&](int64_t) {
            for (int64_t r = 0; r < q.plan.pieces; ++r) {
                const int64_t many = q.plan.length[r], P = q.call.width();
                if (q.call.hn) std::memcpy(at<T>(q.call.hn) + q.plan.piece[r] * P, q.h_before(r, many), P * sizeof(T));
                if (q.call.cn)
                    std::memcpy(at<T>(q.call.cn) + q.plan.piece[r] * q.units, q.c_before(r, many), q.units * sizeof(T));
            }
        });
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
