// Packing weights into panels, and unpacking gradients that were summed in the same order.
#pragma once

#include "stage.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

// Turn a square of vectors around its diagonal.
template <class T>
DYNRNN_INLINE void transpose(typename Lanes<T>::Vec (&square)[Lanes<T>::kWidth]) {
    using L = Lanes<T>;
    constexpr int width = int(L::kWidth);
#if defined(__clang__)
    T values[width][width];
    std::memcpy(values, square, sizeof(values));
    for (int i = 0; i < width; ++i)
        for (int j = 0; j < width; ++j) square[j][i] = values[i][j];
#else
#pragma GCC unroll 4
    for (int distance = 1; distance < width; distance *= 2) {
        typename L::Bits low, high;
        for (int lane = 0; lane < width; ++lane) {
            low[lane] = lane & distance ? width + lane - distance : lane;
            high[lane] = lane & distance ? width + lane : lane + distance;
        }
#pragma GCC unroll 16
        for (int i = 0; i < width; ++i) {
            if (i & distance) continue;
            const typename L::Vec a = square[i], b = square[i + distance];
            square[i] = __builtin_shuffle(a, b, low);
            square[i + distance] = __builtin_shuffle(a, b, high);
        }
    }
#endif
}

// to[k * stride + lane] = matrix(k0 + k, u0 + lane) for k < many and lane < units, 0 for further lanes.
template <class T>
void copy_in(T* to, int64_t stride, const Matrix& matrix, int64_t k0, int64_t many, int64_t u0, int64_t units) {
    using L = Lanes<T>;
    const T* from = at<const T>(matrix.pointer) + k0 * matrix.row + u0 * matrix.column;
    units = units < L::kWidth ? units : L::kWidth;
    if (matrix.column == 1) {
        for (int64_t k = 0; k < many; ++k) L::store(to + k * stride, L::load(from + k * matrix.row, units));
    } else if (matrix.row == 1) {
        for (int64_t k = 0; k < many; k += L::kWidth) {
            const int64_t rows = many - k < L::kWidth ? many - k : L::kWidth;
            typename L::Vec square[L::kWidth];
            for (int64_t lane = 0; lane < L::kWidth; ++lane)
                square[lane] = lane < units ? L::load(from + k + lane * matrix.column, rows) : typename L::Vec{};
            transpose<T>(square);
            for (int64_t i = 0; i < rows; ++i) L::store(to + (k + i) * stride, square[i]);
        }
    } else {
        for (int64_t k = 0; k < many; ++k)
            for (int64_t lane = 0; lane < L::kWidth; ++lane)
                to[k * stride + lane] = lane < units ? from[k * matrix.row + lane * matrix.column] : T(0);
    }
}

// The way back: matrix(k0 + k, u0 + lane) = from[k * stride + lane].
template <class T>
void copy_out(const T* from, int64_t stride, const Matrix& matrix, int64_t k0, int64_t many, int64_t u0,
              int64_t units) {
    using L = Lanes<T>;
    T* to = at<T>(matrix.pointer) + k0 * matrix.row + u0 * matrix.column;
    units = units < L::kWidth ? units : L::kWidth;
    if (matrix.column == 1) {
        for (int64_t k = 0; k < many; ++k) L::store(to + k * matrix.row, L::load(from + k * stride), units);
    } else if (matrix.row == 1) {
        for (int64_t k = 0; k < many; k += L::kWidth) {
            const int64_t rows = many - k < L::kWidth ? many - k : L::kWidth;
            typename L::Vec square[L::kWidth];
            for (int64_t i = 0; i < L::kWidth; ++i)
                square[i] = i < rows ? L::load(from + (k + i) * stride) : typename L::Vec{};
            transpose<T>(square);
            for (int64_t lane = 0; lane < units; ++lane) L::store(to + k + lane * matrix.column, square[lane], rows);
        }
    } else {
        for (int64_t k = 0; k < many; ++k)
            for (int64_t lane = 0; lane < units; ++lane)
                to[k * matrix.row + lane * matrix.column] = from[k * stride + lane];
    }
}

// A panel's vectors one by one: which gate of which unit vector each of them is.
template <class T, class Visit>
DYNRNN_INLINE void each_vector(const Stage& stage, int64_t panel, Visit visit) {
    const int64_t first = panel * kPanel, vectors = stage.vectors<T>();
    for (int64_t v = first; v < first + kPanel && v < vectors; ++v)
        visit(int(v - first), int(v % stage.gates), v / stage.gates * Lanes<T>::kWidth);
}

template <class T>
void pack_side(const Stage& stage, const Side& side, int64_t panel, T* to) {
    const int64_t stride = operand_vectors(stage.shape<T>(panel)) * Lanes<T>::kWidth;
    each_vector<T>(stage, panel, [&](int vector, int gate, int64_t unit) {
        const int place = gate - side.first;
        if (place < 0 || place >= side.count) return;
        const int column = stage.apart() ? place : vector;
        copy_in<T>(to + column * Lanes<T>::kWidth, stride, side.gates[place], 0, side.depth, unit, stage.units - unit);
    });
}

// What the sums of a vector of units begin with: biases and constants, zero past the last unit.
template <class T>
DYNRNN_INLINE typename Lanes<T>::Vec start_of(const Stage& stage, int gate, int64_t unit) {
    using L = Lanes<T>;
    typename L::Vec sum = L::all(T(stage.constants[gate]));
    for (const int64_t bias : stage.biases[gate])
        if (bias) sum += L::load(at<const T>(bias) + unit, stage.units - unit);
    return L::only(sum, stage.units - unit);
}

template <class T>
void pack_panel(const Stage& stage, int64_t panel, T* packed) {
    using L = Lanes<T>;
    T* to = packed + stage.panel_at<T>(panel);
    pack_side(stage, stage.x, panel, to);
    pack_side(stage, stage.h, panel, to + stage.x.depth * operand_vectors(stage.shape<T>(panel)) * L::kWidth);
    each_vector<T>(stage, panel, [&](int vector, int gate, int64_t unit) {
        L::store(packed + (panel * kPanel + vector) * L::kWidth, start_of<T>(stage, gate, unit));
    });
}

// A panel of the transposed products: rows are columns of sums, in their order; columns are elements of the operand.
template <class T>
void pack_back_panel(const Back& back, int64_t panel, T* packed) {
    using L = Lanes<T>;
    T* to = packed + back.panel_at<T>(panel);
    const int64_t vectors = back.shape<T>(panel), stride = vectors * L::kWidth;
    for (int which = 0; which < 2 && back.stages[which]; ++which) {
        const Stage& stage = *back.stages[which];
        const Side& side = *back.sides[which];
        for (int64_t unit = 0; unit < stage.units; unit += L::kWidth)
            for (int place = 0; place < side.count; ++place) {
                const Matrix& matrix = side.gates[place];
                const Matrix turned{matrix.pointer, matrix.column, matrix.row};
                const int64_t units = stage.units - unit < L::kWidth ? stage.units - unit : L::kWidth;
                for (int64_t v = 0; v < vectors; ++v) {
                    const int64_t element = (panel * back.vectors + v) * L::kWidth;
                    copy_in<T>(to + v * L::kWidth, stride, turned, unit, units, element, back.width - element);
                    for (int64_t k = units; k < L::kWidth; ++k)
                        L::store(to + v * L::kWidth + k * stride, typename L::Vec{});
                }
                to += L::kWidth * stride;
            }
    }
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
