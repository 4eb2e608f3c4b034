// The basic cell's elementwise part: one activation, whose derivative follows from its value.
#pragma once

#include "../sequence.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
struct TanhActivation {
    using Vec = typename Lanes<T>::Vec;
    static DYNRNN_INLINE Vec value(Vec sum) { return Lanes<T>::tanh(sum); }
    static DYNRNN_INLINE Vec slope(Vec h, Vec dh) { return dh * (1 - h * h); }
};

template <class T>
struct ReluActivation {
    using Vec = typename Lanes<T>::Vec;
    static DYNRNN_INLINE Vec value(Vec sum) { return sum < Vec{} ? Vec{} : sum; }  // NaN stays NaN
    static DYNRNN_INLINE Vec slope(Vec h, Vec dh) { return h <= Vec{} ? Vec{} : dh; }
};

template <class T>
struct SigmoidActivation {
    using Vec = typename Lanes<T>::Vec;
    static DYNRNN_INLINE Vec value(Vec sum) { return Lanes<T>::sigmoid(sum); }
    static DYNRNN_INLINE Vec slope(Vec h, Vec dh) { return dh * h * (1 - h); }
};

template <class T, class Activation>
struct Basic {
    using L = Lanes<T>;
    using Vec = typename L::Vec;
    static constexpr int64_t V = L::kWidth;

    static void forward(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        for (int v = 0; v < count; ++v, unit += V)
            L::store(q.out_of(r, s) + unit, Activation::value(L::load(sums + v * V)), q.units - unit);
    }

    static void backward(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        for (int v = 0; v < count; ++v, unit += V) {
            const int64_t lanes = q.units - unit;
            Vec dh = L::load(sums + v * V);
            if (q.grads->dout) dh += L::load(q.dout_of(r, s) + unit, lanes);
            dh = L::only(Activation::slope(L::load(q.out_of(r, s) + unit, lanes), dh), lanes);
            L::store(q.gates + q.slot(r, s) * q.main.template columns<T>() + unit, dh);
        }
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
