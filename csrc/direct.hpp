// Products with weights as they lie, for calls of so few steps that packing would cost more than it saves.
#pragma once

#include "pack.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

constexpr int64_t kDirect = 2;  // steps of all rows together

// sums[v] += x @ matrices[v], for vectors of units that lie side by side.
template <class T>
void add_rows(typename Lanes<T>::Vec* sums, const T* x, int64_t depth, const Matrix* matrices, const int64_t* units,
              const int64_t* lanes, int vectors) {
    using L = Lanes<T>;
    using Vec = typename L::Vec;
    Vec even[kPanel] = {}, odd[kPanel] = {};
    const T* from[kPanel] = {};
    int64_t row[kPanel] = {}, count[kPanel] = {};
    bool full = vectors == kPanel;
    for (int v = 0; v < vectors; ++v) {
        from[v] = at<const T>(matrices[v].pointer) + units[v], row[v] = matrices[v].row, count[v] = lanes[v];
        full = full && lanes[v] >= L::kWidth;
    }
    int64_t k = 0;
    for (; full && k + 1 < depth; k += 2) {
        const Vec first = L::all(x[k]), second = L::all(x[k + 1]);
#pragma GCC unroll 4
        for (int v = 0; v < kPanel; ++v) {
            even[v] += first * L::load(from[v] + k * row[v]);
            odd[v] += second * L::load(from[v] + (k + 1) * row[v]);
        }
    }
    for (; k < depth; ++k)
        for (int v = 0; v < vectors; ++v) even[v] += L::all(x[k]) * L::load(from[v] + k * row[v], count[v]);
    for (int v = 0; v < vectors; ++v) sums[v] += even[v] + odd[v];
}

// sum + x @ matrix for one vector of units, each of which has its weights side by side.
template <class T>
typename Lanes<T>::Vec add_columns(typename Lanes<T>::Vec sum, const T* x, int64_t depth, const Matrix& matrix,
                                   int64_t unit, int64_t lanes) {
    using L = Lanes<T>;
    constexpr int64_t together = 4;  // units whose sums do not wait for each other
    typename L::Vec square[L::kWidth] = {};
    const int64_t some = lanes < L::kWidth ? lanes : L::kWidth;
    for (int64_t lane = 0; lane < some; lane += together) {
        const T* from[together];
        typename L::Vec parts[together] = {};
        for (int64_t i = 0; i < together; ++i)  // the last unit stands in for those past it
            from[i] = at<const T>(matrix.pointer) + (unit + (lane + i < some ? lane + i : some - 1)) * matrix.column;
        int64_t k = 0;
        for (; k + L::kWidth <= depth; k += L::kWidth) {
            const typename L::Vec factor = L::load(x + k);
#pragma GCC unroll 4
            for (int64_t i = 0; i < together; ++i) parts[i] += factor * L::load(from[i] + k);
        }
        if (k < depth) {
            const typename L::Vec factor = L::load(x + k, depth - k);
            for (int64_t i = 0; i < together; ++i) parts[i] += factor * L::load(from[i] + k, depth - k);
        }
        for (int64_t i = 0; i < together && lane + i < some; ++i) square[lane + i] = parts[i];
    }
    transpose<T>(square);
    for (int64_t i = 0; i < L::kWidth; ++i) sum += square[i];
    return sum;
}

// One panel's sums of one row: what tiles give, from weights that nobody packed.
template <class T>
void direct_panel(const Stage& stage, int64_t panel, const T* x, const T* h, T* out) {
    using L = Lanes<T>;
    using Vec = typename L::Vec;
    Vec sums[kPanel];
    int64_t units[kPanel], lanes[kPanel];
    int gates[kPanel], all = 0;
    each_vector<T>(stage, panel, [&](int vector, int gate, int64_t unit) {
        units[vector] = unit, lanes[vector] = stage.units - unit, gates[vector] = gate, all = vector + 1;
        sums[vector] = start_of<T>(stage, gate, unit);
    });
    for (const Side* side : {&stage.x, &stage.h}) {
        if (!side->depth) continue;
        const T* const operand = side == &stage.x ? x : h;
        Matrix matrices[kPanel];
        int begin = all, count = 0;
        for (int v = 0; v < all; ++v) {
            const int place = gates[v] - side->first;
            if (place < 0 || place >= side->count) continue;
            if (!count) begin = v;
            matrices[count++] = side->gates[place];
        }
        if (!count) continue;
        bool rows = true, columns = true;
        for (int i = 0; i < count; ++i)
            rows = rows && matrices[i].column == 1, columns = columns && matrices[i].row == 1;
        if (rows) {
            add_rows<T>(sums + begin, operand, side->depth, matrices, units + begin, lanes + begin, count);
        } else if (columns) {
            for (int i = 0; i < count; ++i)
                sums[begin + i] = add_columns<T>(sums[begin + i], operand, side->depth, matrices[i], units[begin + i],
                                                 lanes[begin + i]);
        } else {
            for (int i = 0; i < count; ++i)
                for (int64_t lane = 0; lane < L::kWidth && lane < lanes[begin + i]; ++lane) {
                    const T* from = at<const T>(matrices[i].pointer) + (units[begin + i] + lane) * matrices[i].column;
                    T sum = 0;
                    for (int64_t k = 0; k < side->depth; ++k) sum += operand[k] * from[k * matrices[i].row];
                    sums[begin + i][lane] += sum;
                }
        }
    }
    for (int v = 0; v < all; ++v) L::store(out + v * L::kWidth, sums[v]);
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
