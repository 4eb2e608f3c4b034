// The walk forward: products and elementwise parts of every step, for rows that run and for no others.
#pragma once

#include "direct.hpp"
#include "halves.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
struct Forward {
    using L = Lanes<T>;

    Sequence<T>& q;
    const CellMath<T>& math;
    T* packed;         // room for packed weights, null if they came packed or stay as they lie
    T* ahead;          // room for products of x, Ahead::size() for each group
    int64_t together;  // from this step on all members share each step; before it each walks rows of its own

    void run(Worker& worker) {
        prepare(worker);
        const Groups groups(q.plan.pieces, worker.members());
        if (together > 0) worker.phase(groups.count, [&](int64_t group) { walk_group(groups, group); });
        Ahead<T> first{&q, ahead};
        Halves<T> halves(q, math);
        for (int64_t s = together; s < q.plan.steps; ++s) {
            const Rows rows{0, 1, q.plan.running[s]};
            if (needs_stretch(first, s, q.plan.steps, rows))
                for (const Stage* stage : {&q.main, &q.second})
                    if (stage->x.depth)
                        worker.phase(stage->template panels<T>(),
                                     [&](int64_t panel) { first.fill(*stage, packed_of(*stage), panel, rows); });
            if (halves.has(s)) {
                halves.share(worker, s, first);
                continue;
            }
            share_step(worker, q.main, s, first);
            if (q.has_second()) share_step(worker, q.second, s, first);
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

    const T* right_of(const Stage& stage, int64_t r, int64_t s) const {
        return &stage == &q.main ? q.h_before(r, s) : q.extra + q.slot(r, s) * q.padded;
    }

    void run_panel_directly(const Stage& stage, int64_t s, int64_t panel, const Rows& rows) {
        const int vectors = vectors_of(stage.template shape<T>(panel));
        const Epilogue<T> epilogue = &stage == &q.main ? math.forward : math.forward_second;
        alignas(kBytes) T sums[kPanel * L::kWidth];
        for (int64_t i = 0; i < rows.count; ++i) {
            const int64_t r = rows.at(i);
            direct_panel<T>(stage, panel, q.x_of(r, s), right_of(stage, r, s), sums);
            epilogue(q, rows.from(i, 1), s, panel * kPanel / stage.gates * L::kWidth, vectors, sums);
        }
    }

    // Begin the next stretch of products ahead if step s is one of few rows and has none yet.
    bool needs_stretch(Ahead<T>& products, int64_t s, int64_t end, const Rows& rows) const {
        if (!q.packed || rows.count > kFew || s < products.end) return false;
        products.begin = s, products.end = end - s < kStretch ? end : s + kStretch;
        return true;
    }

    void walk_group(const Groups& groups, int64_t group) {
        const Rows all = groups.of(group);
        Ahead<T> products{&q, ahead + group * Ahead<T>::size(q)};
        Halves<T> halves(q, math);
        for (int64_t s = 0; s < together; ++s) {
            const Rows rows = all.below(q.plan.running[s]);
            if (!rows.count) return;
            const bool stretch = needs_stretch(products, s, together, rows);
            for (const Stage* stage : {&q.main, &q.second}) {
                const int64_t panels = stage->gates ? stage->template panels<T>() : 0;
                for (int64_t panel = 0; stretch && stage->x.depth && panel < panels; ++panel)
                    products.fill(*stage, packed_of(*stage), panel, rows);
                if (halves.has(s)) continue;
                for (int64_t panel = 0; panel < panels; ++panel) run_panel(*stage, s, panel, rows, products);
            }
            if (halves.has(s)) halves.run(s, rows, products);
        }
    }

    void share_step(Worker& worker, const Stage& stage, int64_t s, const Ahead<T>& products) {
        const int64_t panels = stage.template panels<T>();
        const Parts parts(q.plan.running[s], panels, worker.members());
        worker.phase(panels * parts.count, [&](int64_t task) {
            run_panel(stage, s, task / parts.count, parts.of(task % parts.count), products);
        });
    }

    void run_panel(const Stage& stage, int64_t s, int64_t panel, const Rows& rows, const Ahead<T>& products) {
        if (!q.packed) return run_panel_directly(stage, s, panel, rows);
        const bool main = &stage == &q.main, computed = products.has(stage, s);
        const int shape = stage.template shape<T>(panel), vectors = vectors_of(shape);
        const T* const packed = packed_of(stage);
        const T *weights = packed + stage.template panel_at<T>(panel), *start = packed + panel * kPanel * L::kWidth;
        const Epilogue<T> epilogue = main ? math.forward : math.forward_second;
        const int64_t unit = panel * kPanel / stage.gates * L::kWidth;
        Operand<T> left, right;
        left.segments = computed ? 0 : 1, right.segments = 1;
        left.length = stage.x.depth, right.length = stage.h.depth;
        if (computed) weights += stage.x.depth * operand_vectors(shape) * L::kWidth;
        alignas(kBytes) T sums[kRows * kPanel * L::kWidth];
        const Blocks blocks(rows.count);
        for (int64_t block = 0; block < blocks.count; ++block) {
            const int64_t begin = blocks.begin(block), many = blocks.begin(block + 1) - begin;
            for (int64_t i = 0; i < many; ++i) {
                const int64_t r = rows.at(begin + i);
                left.rows[i] = q.x_of(r, s);
                right.rows[i] = right_of(stage, r, s);
                fetch(right.rows[i], right.length);
            }
            if (computed) start = products.at(stage, s, begin, panel);
            tile<T>(int(many), shape)(
                left, right, weights, start, computed ? Ahead<T>::row_size(q) : 0, sums,
                next_part(packed + stage.template panel_at<T>(panel + 1), panel + 1 < stage.template panels<T>(), block,
                          stage.x.depth + stage.h.depth));
            epilogue(q, rows.from(begin, many), s, unit, vectors, sums);
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
