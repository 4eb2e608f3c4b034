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

// Constants of 2^y = 2^n * 2^r with |r| <= 1/2: the magic number rounds to an integer and leaves it in the low bits.
// kTerms approximate (2^r - 1) / r, the highest power first.
template <class T>
struct Exponential;

template <>
struct Exponential<float> {
    static constexpr float kLog2e = 1.44269504088896341f, kMagic = 0x1.8p23f;
    static constexpr int kShift = 23, kOffset = 127;
    static constexpr float kLargest = 125;   // 2^125 and 2^-125 are ordinary numbers
    static constexpr float kSaturated = 60;  // tanh is 1 where e^2x is 2^60
    static constexpr float kTerms[] = {1.540351280e-4f, 1.339073553e-3f, 9.618237494e-3f,
                                       5.550357434e-2f, 2.402264979e-1f, 6.931471879e-1f};
};

template <>
struct Exponential<double> {
    static constexpr double kLog2e = 1.44269504088896340736, kMagic = 0x1.8p52;
    static constexpr int kShift = 52, kOffset = 1023;
    static constexpr double kLargest = 1021;
    static constexpr double kSaturated = 120;
    static constexpr double kTerms[] = {1.36914888539041281e-12, 2.56784359934882055e-11, 4.44553827187081162e-10,
                                        7.05491162080112336e-09, 1.01780860092396999e-07, 1.32154867901443095e-06,
                                        1.52527338040598411e-05, 1.54035303933816088e-04, 1.33335581464284433e-03,
                                        9.61812910762847688e-03, 5.55041086648215831e-02, 2.40226506959100722e-01,
                                        6.93147180559945286e-01};
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
#if defined(__AVX512F__)  // GCC would compare and blend where bounds are constants
        if constexpr (sizeof(T) == 4) {
            const auto some = _mm512_maskz_max_ps(__mmask16(-1), (__m512)all(low), (__m512)value);
            return (Vec)_mm512_maskz_min_ps(__mmask16(-1), (__m512)all(high), some);
        } else {
            const auto some = _mm512_maskz_max_pd(__mmask8(-1), (__m512d)all(low), (__m512d)value);
            return (Vec)_mm512_maskz_min_pd(__mmask8(-1), (__m512d)all(high), some);
        }
#endif
        value = value < all(low) ? all(low) : value;
        return value > all(high) ? all(high) : value;
    }

    // `power` = 2^n and `rest` = 2^r - 1 with y = n + r, so that 2^y = power + power * rest.
    static DYNRNN_INLINE void split(Vec y, Vec& power, Vec& rest) {
        const Vec shifted = y + E::kMagic;
        const Vec r = y - (shifted - E::kMagic);
        power = (Vec)(((Bits)shifted + E::kOffset) << E::kShift);
        constexpr int terms = sizeof(E::kTerms) / sizeof(T);
        Vec sum = all(E::kTerms[0]);
#pragma GCC unroll 16
        for (int k = 1; k < terms; ++k) sum = sum * r + E::kTerms[k];
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
        split(clamp(x * -E::kLog2e, -E::kLargest, E::kLargest), power, rest);
        return reciprocal(power * rest + (power + 1));
    }

    // m / (m + 2) with m = e^2x - 1: small x keep their relative accuracy.
    static DYNRNN_INLINE Vec tanh(Vec x) {
        Vec power, rest;
        split(clamp(x * (2 * E::kLog2e), -E::kSaturated, E::kSaturated), power, rest);
        const Vec m = power * rest + (power - 1);
        return m * reciprocal(m + 2);
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
