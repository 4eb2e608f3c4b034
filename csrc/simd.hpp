// Lanes: vectors of one instruction set through the compiler's vector extensions, and the functions that gates need.
//
// Everything here lives in a namespace of its own for each instruction set, and no template of the standard library is
// used below it: the linker would merge its instances, and a plain machine would run instructions that it lacks.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define DYNRNN_INLINE inline __attribute__((always_inline))

namespace dynrnn {
namespace DYNRNN_ISA {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
constexpr int kRows = 6;  // rows of a tile: with four vectors a row, 24 of 32 registers hold sums
#elif defined(__AVX__)
constexpr int kBytes = 32;
constexpr int kRows = 3;  // 12 of 16 registers
#elif defined(__aarch64__)
constexpr int kBytes = 16;
constexpr int kRows = 6;
#else
constexpr int kBytes = 16;
constexpr int kRows = 3;
#endif

// Constants of 2^n * e^r with |r| <= ln(2) / 2: the magic number rounds to an integer and leaves it in the low bits.
template <class T>
struct Exponential;

template <>
struct Exponential<float> {
    static constexpr float kLog2e = 1.44269504088896341f, kMagic = 0x1.8p23f;
    static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
    static constexpr int kShift = 23, kOffset = 127, kDegree = 7;
    static constexpr float kLargest = 87.0f;    // e^87 and e^-87 are ordinary numbers
    static constexpr float kSaturated = 20.0f;  // tanh is 1 from here on
};

template <>
struct Exponential<double> {
    static constexpr double kLog2e = 1.44269504088896340736, kMagic = 0x1.8p52;
    static constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
    static constexpr int kShift = 52, kOffset = 1023, kDegree = 13;
    static constexpr double kLargest = 708.0;
    static constexpr double kSaturated = 40.0;
};

template <class T>
struct Vectors;

template <>
struct Vectors<float> {
    typedef float Vec __attribute__((vector_size(kBytes)));
    typedef float Loose __attribute__((vector_size(kBytes), aligned(4), may_alias));
    typedef int32_t Bits __attribute__((vector_size(kBytes)));
};

template <>
struct Vectors<double> {
    typedef double Vec __attribute__((vector_size(kBytes)));
    typedef double Loose __attribute__((vector_size(kBytes), aligned(8), may_alias));
    typedef int64_t Bits __attribute__((vector_size(kBytes)));
};

template <class T>
struct Lanes {
    using Vec = typename Vectors<T>::Vec;
    using Loose = typename Vectors<T>::Loose;
    using Bits = typename Vectors<T>::Bits;
    using E = Exponential<T>;
    static constexpr int64_t kWidth = kBytes / sizeof(T);

    static DYNRNN_INLINE Vec load(const T* from) { return *reinterpret_cast<const Loose*>(from); }
    static DYNRNN_INLINE void store(T* to, Vec value) { *reinterpret_cast<Loose*>(to) = value; }
    static DYNRNN_INLINE Vec all(T value) { return value - Vec{}; }

    // The first `count` lanes only; the others are read as zero and not written.
    static DYNRNN_INLINE Vec load(const T* from, int64_t count) {
        if (count >= kWidth) return load(from);
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == 4) return (Vec)_mm512_maskz_loadu_ps(first(count), from);
        if constexpr (sizeof(T) == 8) return (Vec)_mm512_maskz_loadu_pd(__mmask8(first(count)), from);
#endif
        Vec value{};
        for (int64_t lane = 0; lane < count; ++lane) value[lane] = from[lane];
        return value;
    }
    static DYNRNN_INLINE void store(T* to, Vec value, int64_t count) {
        if (count >= kWidth) return store(to, value);
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == 4) return _mm512_mask_storeu_ps(to, first(count), (__m512)value);
        if constexpr (sizeof(T) == 8) return _mm512_mask_storeu_pd(to, __mmask8(first(count)), (__m512d)value);
#endif
        for (int64_t lane = 0; lane < count; ++lane) to[lane] = value[lane];
    }
#if defined(__AVX512F__)
    static DYNRNN_INLINE __mmask16 first(int64_t count) { return __mmask16((1u << (count > 0 ? count : 0)) - 1); }
#endif

    // `value` with zeros from lane `count` on: what fills a row up must not become NaN and spread.
    static DYNRNN_INLINE Vec only(Vec value, int64_t count) {
        if (count >= kWidth) return value;
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == 4) return (Vec)_mm512_maskz_mov_ps(first(count), (__m512)value);
        if constexpr (sizeof(T) == 8) return (Vec)_mm512_maskz_mov_pd(__mmask8(first(count)), (__m512d)value);
#endif
        for (int64_t lane = count; lane < kWidth; ++lane) value[lane] = 0;
        return value;
    }

    static DYNRNN_INLINE Vec clamp(Vec value, T low, T high) {  // NaN stays NaN
        value = value < all(low) ? all(low) : value;
        return value > all(high) ? all(high) : value;
    }

    // `power` = 2^n and `rest` = e^r - 1 with x = n ln(2) + r, so that e^x = power + power * rest.
    static DYNRNN_INLINE void split(Vec x, Vec& power, Vec& rest) {
        const Vec shifted = x * E::kLog2e + E::kMagic;
        const Vec n = shifted - E::kMagic;
        const Vec r = (x - n * E::kLn2High) - n * E::kLn2Low;
        power = (Vec)(((Bits)shifted + E::kOffset) << E::kShift);
        T factorial = 1;
        for (int k = 2; k <= E::kDegree; ++k) factorial *= k;
        Vec sum = all(1 / factorial);
#pragma GCC unroll 16
        for (int k = E::kDegree; k >= 2; --k) {
            factorial /= k;
            sum = sum * r + 1 / factorial;
        }
        rest = sum * r;
    }

    // 1 / x for ordinary numbers.
    static DYNRNN_INLINE Vec reciprocal(Vec x) {
#if defined(__AVX512F__)
        if constexpr (sizeof(T) == 4) {  // 14 bits, and one step of Newton's makes them 24
            const Vec guess = (Vec)_mm512_maskz_rcp14_ps(__mmask16(-1), (__m512)x);
            return guess * (2 - x * guess);
        }
#endif
        return 1 / x;
    }

    static DYNRNN_INLINE Vec sigmoid(Vec x) {
        Vec power, rest;
        split(clamp(-x, -E::kLargest, E::kLargest), power, rest);
        return reciprocal(all(1) + (power + power * rest));
    }

    // m / (m + 2) with m = e^2x - 1: small x keep their relative accuracy.
    static DYNRNN_INLINE Vec tanh(Vec x) {
        Vec power, rest;
        split(clamp(x + x, -2 * E::kSaturated, 2 * E::kSaturated), power, rest);
        const Vec m = power * rest + (power - 1);
        return m * reciprocal(m + 2);
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
