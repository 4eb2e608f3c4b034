// The GRU's elementwise parts, with the reset gate before the recurrent product or after it; equations in cells/gru.py.
#pragma once

#include "../sequence.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

// What both forms share. `trace` are the gates r, u, c as the caller sees them.
template <class T>
struct GruParts {
    using L = Lanes<T>;
    using Vec = typename L::Vec;
    static constexpr int64_t V = L::kWidth;

    static DYNRNN_INLINE void trace(const Sequence<T>& q, int64_t to, int64_t r, int64_t s, int64_t unit, Vec gate) {
        if (to) L::store(at<T>(to) + q.trace_of(r, s) + unit, gate, q.units - unit);
    }
    static DYNRNN_INLINE Vec traced(const Sequence<T>& q, int64_t from, int64_t r, int64_t s, int64_t unit, Vec gate) {
        return from ? gate + L::load(at<const T>(from) + q.dtrace_of(r, s) + unit, q.units - unit) : gate;
    }
    static DYNRNN_INLINE Vec h_before(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit) {
        return L::load(q.h_before(r, s) + unit, q.units - unit);
    }
    static DYNRNN_INLINE Vec whole_dh(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, const T* sums) {
        Vec dh = L::load(sums) + L::load(q.carry + r * q.padded + unit);
        if (q.grads->dout) dh += L::load(q.dout_of(r, s) + unit, q.units - unit);
        return dh;
    }
};

template <class T>
struct Gru : GruParts<T> {
    using P = GruParts<T>;
    using L = Lanes<T>;
    using Vec = typename L::Vec;
    static constexpr int64_t V = L::kWidth;

    static DYNRNN_INLINE T* gates_of(const Sequence<T>& q, int64_t slot, int64_t unit) {
        return q.gates + slot * q.main.template columns<T>() + 2 * unit;
    }
    static DYNRNN_INLINE T* candidate_of(const Sequence<T>& q, int64_t slot, int64_t unit) {
        return q.gates2 + slot * q.second.template columns<T>() + unit;
    }

    static void forward(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        const int64_t slot = q.slot(r, s);
        for (int v = 0; v < count; v += 2, unit += V, sums += 2 * V) {
            const Vec reset = L::sigmoid(L::load(sums)), update = L::sigmoid(L::load(sums + V));
            T* gates = gates_of(q, slot, unit);
            L::store(gates, reset), L::store(gates + V, update);
            L::store(q.extra + slot * q.padded + unit, reset * P::h_before(q, r, s, unit));
            P::trace(q, q.call.gate0, r, s, unit, reset), P::trace(q, q.call.gate1, r, s, unit, update);
        }
    }

    static void forward_second(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        const int64_t slot = q.slot(r, s);
        for (int v = 0; v < count; ++v, unit += V) {
            const Vec candidate = L::tanh(L::load(sums + v * V));
            const Vec update = L::load(gates_of(q, slot, unit) + V);
            if (q.training) L::store(candidate_of(q, slot, unit), candidate);
            const Vec h = candidate + update * (P::h_before(q, r, s, unit) - candidate);
            L::store(q.out_of(r, s) + unit, h, q.units - unit);
            P::trace(q, q.call.gate2, r, s, unit, candidate);
        }
    }

    // To the gradients of the candidate's and of the update gate's sums.
    static void backward(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        const int64_t slot = q.slot(r, s);
        for (int v = 0; v < count; ++v, unit += V) {
            const Vec dh = P::whole_dh(q, r, s, unit, sums + v * V);
            const int64_t lanes = q.units - unit;
            T* gates = gates_of(q, slot, unit);
            const Vec update = L::load(gates + V), candidate = L::load(candidate_of(q, slot, unit));
            Vec dc = P::traced(q, q.grads->dgate2, r, s, unit, dh * (1 - update));
            Vec du = P::traced(q, q.grads->dgate1, r, s, unit, dh * (P::h_before(q, r, s, unit) - candidate));
            dc = dc * (1 - candidate * candidate), du = du * update * (1 - update);
            if (lanes < V) dc = L::only(dc, lanes), du = L::only(du, lanes);
            L::store(candidate_of(q, slot, unit), dc), L::store(gates + V, du);
            L::store(q.carry + r * q.padded + unit, dh * update);
        }
    }

    // From the gradient of r * h to that of the reset gate's sums.
    static void backward_second(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        for (int v = 0; v < count; ++v, unit += V) {
            const int64_t lanes = q.units - unit;
            T* gates = gates_of(q, q.slot(r, s), unit);
            T* carry = q.carry + r * q.padded + unit;
            const Vec dproduct = L::load(sums + v * V), reset = L::load(gates);
            Vec dr = P::traced(q, q.grads->dgate0, r, s, unit, dproduct * P::h_before(q, r, s, unit));
            dr = dr * reset * (1 - reset);
            if (lanes < V) dr = L::only(dr, lanes);
            L::store(gates, dr);
            L::store(carry, L::load(carry) + dproduct * reset);
        }
    }
};

// Sums in the order: the candidate's part of x, r, u, the candidate's part of h.
template <class T>
struct GruResetAfter : GruParts<T> {
    using P = GruParts<T>;
    using L = Lanes<T>;
    using Vec = typename L::Vec;
    static constexpr int64_t V = L::kWidth;

    static void forward(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int, const T* sums) {
        const Vec of_h = L::load(sums + 3 * V);
        const Vec reset = L::sigmoid(L::load(sums + V)), update = L::sigmoid(L::load(sums + 2 * V));
        const Vec candidate = L::tanh(L::load(sums) + reset * of_h);
        const Vec h = candidate + update * (P::h_before(q, r, s, unit) - candidate);
        if (q.training) {
            T* gates = q.gates + q.slot(r, s) * q.main.template columns<T>() + 4 * unit;
            L::store(gates, candidate), L::store(gates + V, reset);
            L::store(gates + 2 * V, update), L::store(gates + 3 * V, of_h);
        }
        L::store(q.out_of(r, s) + unit, h, q.units - unit);
        P::trace(q, q.call.gate0, r, s, unit, reset), P::trace(q, q.call.gate1, r, s, unit, update);
        P::trace(q, q.call.gate2, r, s, unit, candidate);
    }

    static void backward(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        for (int v = 0; v < count; ++v, unit += V) {
            const Vec dh = P::whole_dh(q, r, s, unit, sums + v * V);
            const int64_t lanes = q.units - unit;
            T* gates = q.gates + q.slot(r, s) * q.main.template columns<T>() + 4 * unit;
            const Vec candidate = L::load(gates), reset = L::load(gates + V);
            const Vec update = L::load(gates + 2 * V), of_h = L::load(gates + 3 * V);
            Vec dc = P::traced(q, q.grads->dgate2, r, s, unit, dh * (1 - update));
            dc = dc * (1 - candidate * candidate);
            Vec du = P::traced(q, q.grads->dgate1, r, s, unit, dh * (P::h_before(q, r, s, unit) - candidate));
            Vec dr = P::traced(q, q.grads->dgate0, r, s, unit, dc * of_h);
            du = du * update * (1 - update), dr = dr * reset * (1 - reset);
            Vec dof_h = dc * reset;
            if (lanes < V)
                dc = L::only(dc, lanes), dr = L::only(dr, lanes), du = L::only(du, lanes),
                dof_h = L::only(dof_h, lanes);
            L::store(gates, dc), L::store(gates + V, dr), L::store(gates + 2 * V, du), L::store(gates + 3 * V, dof_h);
            L::store(q.carry + r * q.padded + unit, dh * update);
        }
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
