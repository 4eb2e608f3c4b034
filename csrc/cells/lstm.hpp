// The LSTM's elementwise part; the equations stand in cells/lstm.py. Gates in the order i, j, f, o.
#pragma once

#include "../sequence.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
struct Lstm {
    using L = Lanes<T>;
    using Vec = typename L::Vec;
    static constexpr int64_t V = L::kWidth;

    static DYNRNN_INLINE Vec clip(Vec value, double bound) {
        return bound != bound ? value : L::clamp(value, T(-bound), T(bound));
    }
    // 1 where a clip let the value through, as torch's clamp has it: bounds included.
    static DYNRNN_INLINE Vec passes(Vec value, Vec gradient, double bound) {
        if (bound != bound) return gradient;
        const Vec inside = value >= L::all(T(-bound)) ? gradient : Vec{};
        return value <= L::all(T(bound)) ? inside : Vec{};
    }

    // First the gates of all rows and then h: a row alone would wait for its own c.
    static void forward(const Sequence<T>& q, const Rows& rows, int64_t s, int64_t unit, int, const T* sums) {
        Vec c[kRows], o[kRows];
        for (int64_t i = 0; i < rows.count; ++i) forward_gates(q, rows.at(i), s, unit, sums + i * 4 * V, c[i], o[i]);
        for (int64_t i = 0; i < rows.count; ++i) {
            const int64_t r = rows.at(i);
            const Vec h = o[i] * L::tanh(c[i]);
            if (q.has_second()) {
                L::store(q.extra + q.slot(r, s) * q.padded + unit, h);
            } else {
                L::store(q.out_of(r, s) + unit, h, q.units - unit);
            }
        }
    }

    // The projection: sums are projected values before their clip.
    static void forward_second(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        for (int v = 0; v < count; ++v, unit += V) {
            const Vec sum = L::load(sums + v * V);
            if (q.training) L::store(q.gates2 + q.slot(r, s) * q.second.template columns<T>() + unit, sum);
            L::store(q.out_of(r, s) + unit, clip(sum, q.numbers.proj_clip), q.call.projection - unit);
        }
    }

    static void backward(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        for (int v = 0; v < count; ++v, unit += V) {
            Vec dh = L::load(sums + v * V);
            if (!q.has_second() && q.grads->dout) dh += L::load(q.dout_of(r, s) + unit, q.units - unit);
            backward_vector(q, r, s, unit, dh);
        }
    }

    // From the gradient of the projected output to the gradient of its sums.
    static void backward_second(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, int count, const T* sums) {
        for (int v = 0; v < count; ++v, unit += V) {
            Vec dh = L::load(sums + v * V);
            if (q.grads->dout) dh += L::load(q.dout_of(r, s) + unit, q.call.projection - unit);
            T* sum = q.gates2 + q.slot(r, s) * q.second.template columns<T>() + unit;
            dh = passes(L::load(sum), dh, q.numbers.proj_clip);
            L::store(sum, L::only(dh, q.call.projection - unit));
        }
    }

private:
    static DYNRNN_INLINE void forward_gates(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, const T* sums,
                                            Vec& c, Vec& o) {
        const int64_t slot = q.slot(r, s), lanes = q.units - unit;
        const Vec before = L::load(q.c_before(r, s) + unit);
        Vec i = L::load(sums), j = L::load(sums + V), f = L::load(sums + 2 * V);
        o = L::load(sums + 3 * V);
        if (q.peephole) {
            i += L::load(q.peepholes + unit) * before;
            f += L::load(q.peepholes + q.padded + unit) * before;
        }
        i = L::sigmoid(i), j = L::tanh(j), f = L::sigmoid(f);
        c = clip(f * before + i * j, q.numbers.cell_clip);
        if (q.peephole) o += L::load(q.peepholes + 2 * q.padded + unit) * c;
        o = L::sigmoid(o);
        L::store(q.cells + slot * q.padded + unit, c);
        if (q.training) {
            T* gates = q.gates + slot * q.main.template columns<T>() + 4 * unit;
            L::store(gates, i), L::store(gates + V, j), L::store(gates + 2 * V, f), L::store(gates + 3 * V, o);
        }
        if (q.call.states) L::store(at<T>(q.call.states) + q.trace_of(r, s) + unit, c, lanes);
        if (q.call.gate0) {
            const int64_t to = q.trace_of(r, s) + unit;
            L::store(at<T>(q.call.gate0) + to, i, lanes), L::store(at<T>(q.call.gate1) + to, j, lanes);
            L::store(at<T>(q.call.gate2) + to, f, lanes), L::store(at<T>(q.call.gate3) + to, o, lanes);
        }
    }

    static DYNRNN_INLINE void backward_vector(const Sequence<T>& q, int64_t r, int64_t s, int64_t unit, Vec dh) {
        const int64_t slot = q.slot(r, s), lanes = q.units - unit;
        T* gates = q.gates + slot * q.main.template columns<T>() + 4 * unit;
        T* carry = q.carry + r * q.padded + unit;
        const Vec i = L::load(gates), j = L::load(gates + V), f = L::load(gates + 2 * V), o = L::load(gates + 3 * V);
        const Vec before = L::load(q.c_before(r, s) + unit), c = L::load(q.cells + slot * q.padded + unit);
        const Vec active = L::tanh(c);
        const Grads& grads = *q.grads;
        Vec d_o = dh * active, dc = L::load(carry) + dh * o * (1 - active * active);
        if (grads.dstates) dc += L::load(at<const T>(grads.dstates) + q.dtrace_of(r, s) + unit, lanes);
        if (grads.dgate3) d_o += L::load(at<const T>(grads.dgate3) + q.dtrace_of(r, s) + unit, lanes);
        d_o = d_o * o * (1 - o);
        if (q.peephole) dc += d_o * L::load(q.peepholes + 2 * q.padded + unit);
        dc = passes(f * before + i * j, dc, q.numbers.cell_clip);
        Vec di = dc * j, dj = dc * i, df = dc * before;
        if (grads.dgate0) di += L::load(at<const T>(grads.dgate0) + q.dtrace_of(r, s) + unit, lanes);
        if (grads.dgate1) dj += L::load(at<const T>(grads.dgate1) + q.dtrace_of(r, s) + unit, lanes);
        if (grads.dgate2) df += L::load(at<const T>(grads.dgate2) + q.dtrace_of(r, s) + unit, lanes);
        di = di * i * (1 - i), dj = dj * (1 - j * j), df = df * f * (1 - f);
        dc = dc * f;
        if (q.peephole) {
            dc += di * L::load(q.peepholes + unit);
            dc += df * L::load(q.peepholes + q.padded + unit);
        }
        L::store(carry, dc);
        if (lanes < V)
            di = L::only(di, lanes), dj = L::only(dj, lanes), df = L::only(df, lanes), d_o = L::only(d_o, lanes);
        L::store(gates, di), L::store(gates + V, dj), L::store(gates + 2 * V, df), L::store(gates + 3 * V, d_o);
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
