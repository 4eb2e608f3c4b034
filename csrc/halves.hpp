// Steps of few rows: they wait for weights out of the second cache and for the other member, not for arithmetic. Their
// sums of h are two halves, added at the end, which leaves their order open: a member multiplies the half that it
// computed itself before the other's is there, and begins each step with weights that the last one left in the first
// cache. Which steps do this depends on the call alone, so results do not depend on who computes them.
#pragma once

#include "ahead.hpp"
#include "memory.hpp"
#include "worker.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
class Halves {
public:
    using L = Lanes<T>;

    Halves(const Sequence<T>& q, const CellMath<T>& math) : q(q), math(math) {}

    bool has(int64_t s) const { return q.packed && !q.has_second() && q.plan.running[s] <= kFew && panels() > 1; }

    // A whole step on one member.
    void run(int64_t s, const Rows& rows, const Ahead<T>& ahead) {
        for (int64_t i = 0; i < panels(); ++i)
            s % 2 ? run_panel(s, panels() - 1 - i, 1, rows, ahead) : run_panel(s, i, 0, rows, ahead);
    }

    void share(Worker& worker, int64_t s, const Ahead<T>& ahead) {
        const bool backwards = s % 2, two = worker.members() == 2;
        const int own = two ? worker.which() : int(s % 2);
        const Rows rows{0, 1, q.plan.running[s]};
        worker.phase(
            panels(), Order{kMost, backwards}, [&](int64_t panel) { run_panel(s, panel, 1 - own, rows, ahead); },
            [&](int64_t begin, int64_t end) {
                if (two && s + 1 < q.plan.steps) multiply_early(s + 1, begin, end, own);
            });
    }

private:
    static constexpr int64_t kMost = 8;  // panels of a member

    int64_t panels() const { return q.main.template panels<T>(); }

    // Cut where the panels of two members meet.
    int64_t begin_of(int half) const {
        return half == 0 ? 0 : half == 1 ? panels() / 2 * kPanel / q.main.gates * L::kWidth : q.units;
    }

    void multiply(int64_t s, int64_t panel, int half, const Rows& rows, T* to) const {
        const int shape = q.main.template shape<T>(panel);
        const int64_t begin = begin_of(half);
        const Operand<T> none{};
        Operand<T> right;
        right.segments = 1, right.length = begin_of(half + 1) - begin;
        for (int64_t i = 0; i < rows.count; ++i) {
            right.rows[i] = q.h_before(rows.at(i), s) + begin;
            fetch(right.rows[i], right.length);
        }
        const int64_t above = (q.main.x.depth + begin) * operand_vectors(shape) * L::kWidth;
        tile<T>(int(rows.count), shape)(none, right, q.packed + q.main.template panel_at<T>(panel) + above, nullptr, 0,
                                        to, nullptr);
    }

    void run_panel(int64_t s, int64_t panel, int first, const Rows& rows, const Ahead<T>& ahead) {
        alignas(kBytes) T room[2][kFew * kPanel * L::kWidth];
        const T* sums[2] = {room[0], room[1]};
        for (const int half : {first, 1 - first}) {
            if (early_step == s && early_half == half && panel >= early_begin && panel < early_end) {
                sums[half] = early[panel - early_begin];
            } else {
                multiply(s, panel, half, rows, room[half]);
            }
        }
        const int vectors = vectors_of(q.main.template shape<T>(panel));
        const bool computed = ahead.has(q.main, s);
        for (int64_t i = 0; i < rows.count; ++i) {
            const T* start = computed ? ahead.at(q.main, s, i, panel) : q.packed + panel * kPanel * L::kWidth;
            for (int v = 0; v < vectors; ++v) {
                const int64_t at = (i * vectors + v) * L::kWidth;
                L::store(room[0] + at, L::load(start + v * L::kWidth) + L::load(sums[0] + at) + L::load(sums[1] + at));
            }
        }
        math.forward(q, rows, s, panel * kPanel / q.main.gates * L::kWidth, vectors, room[0]);
    }

    // One half of the member's own panels but for the one that step s ends with: the step after it begins there.
    void multiply_early(int64_t s, int64_t begin, int64_t end, int half) {
        const bool backwards = s % 2;
        if (end - begin > 1) backwards ? ++begin : --end;
        if (end - begin > kMost) return;
        const Rows rows{0, 1, q.plan.running[s]};
        for (int64_t i = 0; i < end - begin; ++i) {
            const int64_t panel = backwards ? end - 1 - i : begin + i;
            multiply(s, panel, half, rows, early[panel - begin]);
        }
        early_step = s, early_begin = begin, early_end = end, early_half = half;
    }

    const Sequence<T>& q;
    const CellMath<T>& math;
    int64_t early_step = -1, early_begin = 0, early_end = 0;
    int early_half = 0;
    alignas(kBytes) T early[kMost][kFew * kPanel * L::kWidth];
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
