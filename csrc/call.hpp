// What one call carries: sizes and addresses as the Python side lists them. The letters of this code:
// B batch, T time, D input_size, H units, P width of the output (units, or of the projection), N pieces.
#pragma once

#include <cstdint>

namespace dynrnn {

enum Cell : int64_t { kLstm, kGru, kGruResetAfter, kTanh, kRelu, kSigmoid, kCells };

#define DYNRNN_CALL(F)                                                                                       \
    F(isa) F(cell) F(itemsize) F(threads) F(batch) F(time) F(input_size) F(units) F(projection) F(reverse)  \
    F(pieces) F(row) F(start) F(length)                                                                     \
    F(x) F(x_row) F(x_time) F(out) F(out_row) F(out_time) F(h0) F(c0) F(hn) F(cn) F(saved) F(packed)        \
    F(states) F(gate0) F(gate1) F(gate2) F(gate3) F(trace_row) F(trace_time)

#define DYNRNN_SLOT(F, g)                                                                                   \
    F(xk##g) F(xk##g##_row) F(xk##g##_column) F(hk##g) F(hk##g##_row) F(hk##g##_column) F(bx##g) F(bh##g)

#define DYNRNN_WEIGHTS(F)                                                                                   \
    DYNRNN_SLOT(F, 0) DYNRNN_SLOT(F, 1) DYNRNN_SLOT(F, 2) DYNRNN_SLOT(F, 3)                                 \
    F(peephole_i) F(peephole_f) F(peephole_o) F(projection) F(projection_row) F(projection_column)

#define DYNRNN_NUMBERS(F) F(forget_bias) F(cell_clip) F(proj_clip)

#define DYNRNN_GRADS(F)                                                                                     \
    F(dout) F(dout_row) F(dout_time) F(dhn) F(dcn) F(dstates) F(dgate0) F(dgate1) F(dgate2) F(dgate3)       \
    F(dtrace_row) F(dtrace_time) F(dx) F(dx_row) F(dx_time) F(dh0) F(dc0)

#define DYNRNN_FIELD(name) int64_t name;
#define DYNRNN_NUMBER(name) double name;

struct Call {
    DYNRNN_CALL(DYNRNN_FIELD)
    int64_t width() const { return projection ? projection : units; }
};
struct Grads {
    DYNRNN_GRADS(DYNRNN_FIELD)
};
struct Numbers {
    DYNRNN_NUMBERS(DYNRNN_NUMBER)
};  // a clip that is not a number is none

// A matrix whose element (k, unit) stands at pointer + k * row + unit * column elements; pointer 0: there is none.
struct Matrix {
    int64_t pointer, row, column;
};
struct Slot {
    Matrix x, h;
    int64_t bx, bh;
};
struct Weights {
    Slot slots[4];
    int64_t peepholes[3];
    Matrix projection;
};

#define DYNRNN_COUNT(name) +1
constexpr int kCallFields = 0 DYNRNN_CALL(DYNRNN_COUNT), kWeightFields = 0 DYNRNN_WEIGHTS(DYNRNN_COUNT);
constexpr int kNumberFields = 0 DYNRNN_NUMBERS(DYNRNN_COUNT), kGradFields = 0 DYNRNN_GRADS(DYNRNN_COUNT);
static_assert(sizeof(Call) == kCallFields * sizeof(int64_t), "a call is a list of integers");
static_assert(sizeof(Weights) == kWeightFields * sizeof(int64_t), "so are weights");
static_assert(sizeof(Grads) == kGradFields * sizeof(int64_t), "and gradients");

template <class P>
P* at(int64_t address) {
    return reinterpret_cast<P*>(address);
}

}  // namespace dynrnn
