// The walk backward: from the gradients of outputs and states to those of every step's sums and of the initial state.
// What follows from the sums without a recurrence is in gradients.hpp.
#pragma once

#include "memory.hpp"
#include "sequence.hpp"
#include "worker.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
struct Backward {
    using L = Lanes<T>;

    Sequence<T>& q;
    const CellMath<T>& math;
    Back to_h, to_extra, to_x;  // products of sums with turned weights; to_x has no panels where dx is not wanted
    T *packed_h, *packed_extra, *packed_x;
    int64_t together;

    void run(Worker& worker) {
        prepare(worker);
        for (int64_t s = q.plan.steps - 1; s >= together; --s) share_step(worker, s);
        const Groups groups(q.plan.pieces, worker.members());
        if (together > 0) worker.phase(groups.count, [&](int64_t group) { walk_group(groups.of(group)); });
        finish(worker);
    }

private:
    void prepare(Worker& worker) {
        // a single step's sums go to no state that anybody asks for
        const int64_t h = q.plan.steps > 1 || q.grads->dh0 ? to_h.panels<T>() : 0, extra = to_extra.panels<T>(),
                      x = to_x.panels<T>();
        worker.phase(h + extra + x + 1, [&](int64_t task) {
            if (task < h) {
                pack_back_panel(to_h, task, packed_h);
            } else if (task < h + extra) {
                pack_back_panel(to_extra, task - h, packed_extra);
            } else if (task < h + extra + x) {
                pack_back_panel(to_x, task - h - extra, packed_x);
            } else {
                begin_carry();
            }
        });
    }

    void begin_carry() {
        if (!q.carry) return;
        const bool of_cells = q.call.cell == kLstm;
        const T* given = of_cells ? at<const T>(q.grads->dcn) : nullptr;
        const T* begin = of_cells ? at<const T>(q.call.c0) : nullptr;
        for (int64_t r = 0; r < q.plan.pieces; ++r) {
            const int64_t piece = q.plan.piece[r] * q.units;
            copy_row(q.carry + r * q.padded, given ? given + piece : nullptr, q.units, q.padded);
            if (of_cells) copy_row(q.c_begin + r * q.padded, begin ? begin + piece : nullptr, q.units, q.padded);
        }
    }

    void walk_group(const Rows& group) {
        for (int64_t s = (together < q.plan.steps ? together : q.plan.steps) - 1; s >= 0; --s) {
            const Rows rows = group.below(q.plan.running[s]);
            if (!rows.count) continue;
            for (int64_t panel = 0; panel < to_h.panels<T>(); ++panel) from_h(s, panel, rows);
            for (int64_t panel = 0; panel < to_extra.panels<T>(); ++panel) from_extra(s, panel, rows);
        }
    }

    void share_step(Worker& worker, int64_t s) {
        for (const Back* back : {&to_h, &to_extra}) {
            const int64_t panels = back->template panels<T>();
            if (!panels) continue;
            const Parts parts(q.plan.running[s], panels, worker.members());
            worker.phase(panels * parts.count, [&](int64_t task) {
                const Rows rows = parts.of(task % parts.count);
                back == &to_h ? from_h(s, task / parts.count, rows) : from_extra(s, task / parts.count, rows);
            });
        }
    }

    // The gradient of the state that step s leaves: through step s + 1 where there is one, else the final state's.
    void from_h(int64_t s, int64_t panel, const Rows& rows) {
        const Epilogue<T> epilogue = projects() ? math.backward_second : math.backward;
        products_of_h(s + 1, panel, rows, [&](const Rows& some, int64_t unit, int vectors, const T* sums) {
            epilogue(q, some, s, unit, vectors, sums);
        });
    }

    void from_extra(int64_t s, int64_t panel, const Rows& rows) {
        const Epilogue<T> epilogue = projects() ? math.backward : math.backward_second;
        Operand<T> left;
        to_extra.describe(0, left);
        const int64_t columns = q.second.template columns<T>();
        products(
            to_extra, packed_extra, panel, rows, left, [&](int64_t r) { return q.gates2 + q.slot(r, s) * columns; },
            [&](const Rows& some, int64_t unit, int vectors, const T* sums) {
                epilogue(q, some, s, unit, vectors, sums);
            });
    }

    // The gradient that the sums of step s give to the state before it, or that of the final state in rows that have
    // no step s. Rows that have one come first.
    template <class Use>
    void products_of_h(int64_t s, int64_t panel, const Rows& rows, Use use) {
        const Rows running = rows.below(s < q.plan.steps ? q.plan.running[s] : 0);
        Operand<T> left;
        to_h.describe(0, left);
        const int64_t columns = q.main.template columns<T>(), offset = to_h.offset<T>(0);
        products(
            to_h, packed_h, panel, running, left, [&](int64_t r) { return q.gates + q.slot(r, s) * columns + offset; },
            use);
        const int vectors = to_h.shape<T>(panel);
        const int64_t unit = panel * to_h.vectors * L::kWidth, P = q.call.width();
        alignas(kBytes) T sums[kPanel * L::kWidth];
        const int64_t room = vectors * L::kWidth, some = P - unit < room ? P - unit : room;
        for (int64_t i = running.count; i < rows.count; ++i) {
            const T* given = at<const T>(q.grads->dhn);
            copy_row(sums, given ? given + q.plan.piece[rows.at(i)] * P + unit : nullptr, some, room);
            use(rows.from(i, 1), unit, vectors, sums);
        }
    }

    template <class Row, class Use>
    void products(const Back& back, const T* packed, int64_t panel, const Rows& rows, Operand<T>& left, Row row,
                  Use use) {
        const int shape = back.shape<T>(panel);
        const Operand<T> none{};
        alignas(kBytes) T sums[kRows * kPanel * L::kWidth];
        const Blocks blocks(rows.count);
        for (int64_t block = 0; block < blocks.count; ++block) {
            const int64_t begin = blocks.begin(block), many = blocks.begin(block + 1) - begin;
            for (int64_t i = 0; i < many; ++i) {
                left.rows[i] = row(rows.at(begin + i));
                fetch(left.rows[i], left.segments * (left.stride ? left.stride : left.length));
            }
            tile<T>(int(many), shape)(left, none, packed + back.panel_at<T>(panel), nullptr, 0, sums,
                                      next_part(packed + back.panel_at<T>(panel + 1), panel + 1 < back.panels<T>(),
                                                block, left.segments * left.length));
            use(rows.from(begin, many), panel * back.vectors * L::kWidth, shape, sums);
        }
    }

    // The initial state's gradients: what the first step's sums give, and what is carried around them.
    void finish(Worker& worker) {
        const int64_t P = q.call.width();
        const bool of_cells = q.call.cell == kLstm;
        if (q.grads->dh0) {
            worker.phase(to_h.panels<T>(), [&](int64_t panel) {
                const Rows all{0, 1, q.plan.pieces};
                products_of_h(0, panel, all, [&](const Rows& rows, int64_t unit, int vectors, const T* sums) {
                    for (int64_t i = 0; i < rows.count * vectors; ++i, sums += L::kWidth) {
                        const int64_t r = rows.at(i / vectors), at_unit = unit + i % vectors * L::kWidth;
                        typename L::Vec dh = L::load(sums);
                        if (q.carry && !of_cells) dh += L::load(q.carry + r * q.padded + at_unit);
                        L::store(at<T>(q.grads->dh0) + q.plan.piece[r] * P + at_unit, dh, P - at_unit);
                    }
                });
            });
        }
        if (q.grads->dc0)
            worker.phase(1, [&](int64_t) {
                for (int64_t r = 0; r < q.plan.pieces; ++r)
                    std::memcpy(at<T>(q.grads->dc0) + q.plan.piece[r] * q.units, q.carry + r * q.padded,
                                q.units * sizeof(T));
            });
    }

    bool projects() const { return q.call.cell == kLstm && q.has_second(); }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
