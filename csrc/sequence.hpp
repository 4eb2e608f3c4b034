// One call with its types: where each step's inputs, states and sums stand. r is a piece's sorted position, s a step.
#pragma once

#include <cmath>

#include "pack.hpp"
#include "plan.hpp"
#include "rows.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
struct Sequence {
    using L = Lanes<T>;

    Sequence(const Call& call, const Weights& weights, const Numbers& numbers, const Plan& plan, const Grads* grads)
        : call(call),
          weights(weights),
          numbers(numbers),
          plan(plan),
          grads(grads),
          training(call.saved != 0),
          peephole(weights.peepholes[0] != 0),
          units(call.units),
          padded(ceil_div(units, L::kWidth) * L::kWidth),
          x(at<const T>(call.x)),
          out(at<T>(call.out)) {
        describe_stages();
    }

    const Call& call;
    const Weights& weights;
    const Numbers& numbers;
    const Plan& plan;
    const Grads* grads;
    const bool training, peephole;
    const int64_t units, padded;
    const T* x;
    T* out;

    Stage main, second;  // a second stage has gates where the cell needs one

    // Kept for each valid step in training, for each piece in inference; null where the cell has no use for it.
    T* gates = nullptr;   // of the main stage, [main.columns]; in backward the gradients of its sums
    T* gates2 = nullptr;  // of the second stage, [second.columns]
    T* cells = nullptr;   // the LSTM's c, [padded]
    T* extra = nullptr;   // what the second stage multiplies, [padded]: r * h, or o * tanh(c)
    // Not kept.
    T* c_begin = nullptr;    // [N, padded]: c before the first step, in training
    T* zeros = nullptr;      // [max(P, kWidth)]: h before the first step where none was given
    T* peepholes = nullptr;  // [3, padded]
    T* carry = nullptr;      // [N, padded]: in backward, the gradient of c or what goes around the products to h
    const T* packed = nullptr;

    // GCC would leave some of these calls standing in inner loops, once the file has grown enough.
    bool has_second() const { return second.gates != 0; }
    DYNRNN_INLINE int64_t slot(int64_t r, int64_t s) const { return training ? plan.saved[r] + s : r; }
    DYNRNN_INLINE int64_t time(int64_t r, int64_t s) const { return plan.first[r] + (call.reverse ? -s : s); }
    DYNRNN_INLINE const T* x_of(int64_t r, int64_t s) const {
        return x + plan.row[r] * call.x_row + time(r, s) * call.x_time;
    }
    DYNRNN_INLINE T* out_of(int64_t r, int64_t s) const {
        return out + plan.row[r] * call.out_row + time(r, s) * call.out_time;
    }
    DYNRNN_INLINE const T* h_before(int64_t r, int64_t s) const {
        if (s) return out_of(r, s - 1);
        return call.h0 ? at<const T>(call.h0) + plan.piece[r] * call.width() : zeros;
    }
    DYNRNN_INLINE const T* c_before(int64_t r, int64_t s) const {
        if (!training) return cells + r * padded;
        return s ? cells + (plan.saved[r] + s - 1) * padded : c_begin + r * padded;
    }
    DYNRNN_INLINE int64_t trace_of(int64_t r, int64_t s) const {
        return plan.row[r] * call.trace_row + time(r, s) * call.trace_time;
    }
    DYNRNN_INLINE int64_t dtrace_of(int64_t r, int64_t s) const {
        return plan.row[r] * grads->dtrace_row + time(r, s) * grads->dtrace_time;
    }
    DYNRNN_INLINE const T* dout_of(int64_t r, int64_t s) const {
        return at<const T>(grads->dout) + plan.row[r] * grads->dout_row + time(r, s) * grads->dout_time;
    }
    DYNRNN_INLINE T* dx_of(int64_t r, int64_t s) const {
        return at<T>(grads->dx) + plan.row[r] * grads->dx_row + time(r, s) * grads->dx_time;
    }

    int64_t kept_size(int64_t slots) const {
        return slots * (main.columns<T>() + second.columns<T>() + (call.cell == kLstm ? padded : 0) +
                        (has_second() ? padded : 0));
    }
    void place_kept(T* memory, int64_t slots) {
        gates = memory, memory += slots * main.columns<T>();
        gates2 = memory, memory += slots * second.columns<T>();
        if (call.cell == kLstm) cells = memory, memory += slots * padded;
        extra = memory;
    }
    int64_t packed_size() const { return main.packed_size<T>() + (has_second() ? second.packed_size<T>() : 0); }

private:
    void describe_stages() {
        const int64_t D = call.input_size, P = call.width();
        const auto& slots = weights.slots;
        const auto gate = [&](Stage& stage, int place, int of_x, int of_h) {
            if (of_x >= 0) stage.x.gates[place - stage.x.first] = slots[of_x].x;
            if (of_h >= 0) stage.h.gates[place - stage.h.first] = slots[of_h].h;
            if (of_x >= 0) stage.biases[place][0] = slots[of_x].bx;
            if (of_h >= 0) stage.biases[place][1] = slots[of_h].bh;
        };
        const auto stage = [&](int gates) {
            Stage made;
            made.gates = gates, made.units = units;
            made.x = Side{D, 0, gates, {}};
            made.h = Side{P, 0, gates, {}};
            return made;
        };
        switch (call.cell) {
            case kLstm:  // i, j, f, o
                main = stage(4);
                for (int g = 0; g < 4; ++g) gate(main, g, g, g);
                main.constants[2] = numbers.forget_bias;
                if (call.projection) {
                    second.gates = 1, second.units = P;
                    second.h = Side{units, 0, 1, {weights.projection}};
                }
                break;
            case kGru:  // r, u; then c, whose recurrent part multiplies r * h
                main = stage(2);
                for (int g = 0; g < 2; ++g) gate(main, g, g, g);
                second = stage(1);
                gate(second, 0, 2, 2);
                break;
            case kGruResetAfter:  // the candidate's part of x, r, u, the candidate's part of h
                main = stage(4);
                main.x.count = main.h.count = 3, main.h.first = 1;
                gate(main, 0, 2, -1), gate(main, 1, 0, 0), gate(main, 2, 1, 1), gate(main, 3, -1, 2);
                break;
            default: main = stage(1); gate(main, 0, 0, 0);
        }
    }
};

// What a cell does with the sums of a tile's rows: `count` unit vectors from element `unit` on, all gates of each.
template <class T>
using Epilogue = void (*)(const Sequence<T>& q, const Rows& rows, int64_t s, int64_t unit, int count, const T* sums);

// One row after the other.
template <class T, void (*one)(const Sequence<T>&, int64_t, int64_t, int64_t, int, const T*)>
void each(const Sequence<T>& q, const Rows& rows, int64_t s, int64_t unit, int count, const T* sums) {
    for (int64_t i = 0; i < rows.count; ++i, sums += count * Lanes<T>::kWidth) one(q, rows.at(i), s, unit, count, sums);
}

template <class T>
struct CellMath {
    Epilogue<T> forward, forward_second;    // `sums` of the main and of the second stage
    Epilogue<T> backward, backward_second;  // `sums` is the gradient of h, or of what the second stage multiplied
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
