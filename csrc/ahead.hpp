// The products of x computed ahead where few rows run. A step of one or two rows waits for its weights, not for its
// arithmetic; many steps' products of x share them.
#pragma once

#include "sequence.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

constexpr int64_t kFew = 2;       // rows that gain from it
constexpr int64_t kStretch = 32;  // steps at once

// Whose steps `begin` .. `end` of at most kFew rows have their products of x, of both stages, in `sums`.
template <class T>
struct Ahead {
    using L = Lanes<T>;

    const Sequence<T>* q = nullptr;
    T* sums = nullptr;
    int64_t begin = 0, end = 0;

    static int64_t row_size(const Sequence<T>& q) {
        return q.main.template columns<T>() + (q.second.x.depth ? q.second.template columns<T>() : 0);
    }
    static int64_t size(const Sequence<T>& q) { return kStretch * kFew * row_size(q); }

    bool has(const Stage& stage, int64_t s) const { return stage.x.depth && s >= begin && s < end; }

    // The sums of the i-th row at step s, from a panel on; the next row's are row_size() further.
    T* at(const Stage& stage, int64_t s, int64_t i, int64_t panel) const {
        const int64_t offset = &stage == &q->second ? q->main.template columns<T>() : 0;
        return sums + ((s - begin) * kFew + i) * row_size(*q) + offset + panel * kPanel * L::kWidth;
    }

    // Compute one panel for all rows and steps of the stretch.
    void fill(const Stage& stage, const T* weights, int64_t panel, const Rows& rows) const {
        const int shape = stage.template shape<T>(panel), vectors = vectors_of(shape);
        Operand<T> left;
        const Operand<T> none{};
        left.segments = 1, left.length = stage.x.depth;
        T* places[kRows];
        alignas(kBytes) T out[kRows * kPanel * L::kWidth];
        int many = 0;
        const auto flush = [&] {
            if (!many) return;
            tile<T>(many, shape)(left, none, weights + stage.template panel_at<T>(panel),
                                 weights + panel * kPanel * L::kWidth, 0, out, nullptr);
            for (int i = 0; i < many; ++i)
                std::memcpy(places[i], out + i * vectors * L::kWidth, vectors * L::kWidth * sizeof(T));
            many = 0;
        };
        for (int64_t s = begin; s < end; ++s) {
            const Rows running = rows.below(q->plan.running[s]);
            for (int64_t i = 0; i < running.count; ++i) {
                left.rows[many] = q->x_of(running.at(i), s), places[many] = at(stage, s, i, panel);
                if (++many == kRows) flush();
            }
        }
        flush();
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
