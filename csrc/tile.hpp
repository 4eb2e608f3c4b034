// Products: a few rows times a packed panel of weights, whose sums stay in registers until the last factor.
#pragma once

#include "simd.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

constexpr int kPanel = 4;  // vectors of columns in a panel

// What the second cache should have by the time that this product is done: a line for each element of the rows.
struct Next {
    const char* lines = nullptr;
};

// Rows to multiply: row r has `segments` stretches of `length` elements that stand `stride` elements apart.
template <class T>
struct Operand {
    const T* rows[kRows];
    int64_t segments = 0, length = 0, stride = 0;
};

// Add to sums[r][First ..] what `left` gives with `weights`: for each element of a row, `Count` vectors.
template <int R, int First, int Count, class T>
DYNRNN_INLINE const T* multiply(typename Lanes<T>::Vec (&sums)[R][kPanel], const Operand<T>& left, const T* weights,
                                Next& next) {
    using L = Lanes<T>;
    const T* rows[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) rows[r] = left.rows[r];
    for (int64_t segment = 0; segment < left.segments; ++segment) {
        for (int64_t k = 0; k < left.length; ++k) {
            typename L::Vec columns[Count];
#pragma GCC unroll 8
            for (int c = 0; c < Count; ++c) {
                columns[c] = L::load(weights + c * L::kWidth);
#if defined(__x86_64__)
                // else GCC folds the load into every product that uses it
                if (R > 1 && R <= 3 && kBytes == 64) asm("" : "+v"(columns[c]));
#endif
            }
            if (R >
                1) {  // one row waits for nothing but weights: the fewer instructions, the further the core looks ahead
                __builtin_prefetch(next.lines, 0, 2);
                next.lines += 64;
#pragma GCC unroll 8
                for (int c = 0; c < Count; ++c) __builtin_prefetch(weights + (8 * Count + c) * L::kWidth);
            }
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r) {
                const typename L::Vec factor = L::all(rows[r][k]);
#pragma GCC unroll 8
                for (int c = 0; c < Count; ++c) sums[r][First + c] += factor * columns[c];
            }
            weights += Count * L::kWidth;
        }
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) rows[r] += left.stride;
    }
    return weights;
}

// Which vectors of a panel each operand adds to; the GRU with reset after the product has a vector of its own for each.
enum Shape { kOne = 1, kTwo = 2, kThree = 3, kFour = 4, kApart = 5, kShapes = 6 };

constexpr int vectors_of(int shape) { return shape == kApart ? 4 : shape; }
constexpr int operand_vectors(int shape) { return shape == kApart ? 3 : shape; }

// out[r][c] = start[c] + x[r] @ panel + h[r] @ panel, the part of x first. `start` may also be a row of sums for each
// r.
template <class T, int R, int S>
__attribute__((noinline)) void tile_of(const Operand<T>& x, const Operand<T>& h, const T* weights, const T* start,
                                       int64_t start_stride, T* out, const T* next_weights) {
    using L = Lanes<T>;
    constexpr int vectors = vectors_of(S), count = operand_vectors(S);
    typename L::Vec sums[R][kPanel];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int c = 0; c < vectors; ++c)
            sums[r][c] = start ? L::load(start + r * start_stride + c * L::kWidth) : typename L::Vec{};
    Next next{reinterpret_cast<const char*>(next_weights ? next_weights : weights)};
    weights = multiply<R, 0, count, T>(sums, x, weights, next);
    multiply<R, S == kApart ? 1 : 0, count, T>(sums, h, weights, next);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int c = 0; c < vectors; ++c) L::store(out + (r * vectors + c) * L::kWidth, sums[r][c]);
}

template <class T>
using Tile = void (*)(const Operand<T>&, const Operand<T>&, const T*, const T*, int64_t, T*, const T*);

template <class T, int R>
Tile<T> tile_for(int shape) {
    switch (shape) {
        case kOne: return tile_of<T, R, kOne>;
        case kTwo: return tile_of<T, R, kTwo>;
        case kThree: return tile_of<T, R, kThree>;
        case kFour: return tile_of<T, R, kFour>;
        default: return tile_of<T, R, kApart>;
    }
}

// The tile of `rows` rows, 1 .. kRows. Its result is [rows][vectors of the shape][lanes], without gaps.
template <class T>
Tile<T> tile(int rows, int shape) {
    switch (rows) {
        case 1: return tile_for<T, 1>(shape);
        case 2: return tile_for<T, 2>(shape);
        case 3: return tile_for<T, 3>(shape);
#if !defined(__x86_64__) || defined(__AVX512F__)
        case 4: return tile_for<T, 4>(shape);
        case 5: return tile_for<T, 5>(shape);
        default: return tile_for<T, 6>(shape);
#else
        default: return tile_for<T, kRows>(shape);
#endif
    }
}

// Cut `rows` into blocks of at most kRows that are equally large: eight are four and four, not six and two.
struct Blocks {
    int64_t rows, count;
    explicit Blocks(int64_t rows) : rows(rows), count((rows + kRows - 1) / kRows) {}
    int64_t begin(int64_t block) const { return block * rows / count; }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
