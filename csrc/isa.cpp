// Compiled once for each instruction set, with DYNRNN_ISA as its name.
#include "backward_call.hpp"
#include "cells/basic.hpp"
#include "cells/gru.hpp"
#include "cells/lstm.hpp"
#include "engine.hpp"
#include "forward_call.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {
namespace {

template <class T, class Activation>
constexpr CellMath<T> basic{each<T, Basic<T, Activation>::forward>, nullptr, each<T, Basic<T, Activation>::backward>,
                            nullptr};

template <class T>
constexpr CellMath<T> kMath[kCells] = {
    {Lstm<T>::forward, each<T, Lstm<T>::forward_second>, each<T, Lstm<T>::backward>, each<T, Lstm<T>::backward_second>},
    {each<T, Gru<T>::forward>, each<T, Gru<T>::forward_second>, each<T, Gru<T>::backward>,
     each<T, Gru<T>::backward_second>},
    {each<T, GruResetAfter<T>::forward>, nullptr, each<T, GruResetAfter<T>::backward>, nullptr},
    basic<T, TanhActivation<T>>,
    basic<T, ReluActivation<T>>,
    basic<T, SigmoidActivation<T>>,
};

template <class T>
Sequence<T> sizes_only(const Call& call, const Numbers& numbers, const Plan& plan, const Weights& none) {
    return Sequence<T>(call, none, numbers, plan, nullptr);
}

int64_t saved_size(const Call& call, const Numbers& numbers) {
    const Plan plan;
    const Weights none{};
    const int64_t steps = total_steps(call);
    return call.itemsize == 8 ? sizes_only<double>(call, numbers, plan, none).kept_size(steps)
                              : sizes_only<float>(call, numbers, plan, none).kept_size(steps);
}

int64_t packed_size(const Call& call, const Numbers& numbers) {
    const Plan plan;
    const Weights none{};
    return call.itemsize == 8 ? sizes_only<double>(call, numbers, plan, none).packed_size()
                              : sizes_only<float>(call, numbers, plan, none).packed_size();
}

template <class T>
void pack_all(const Call& call, const Weights& weights, const Numbers& numbers, T* packed) {
    const Plan plan;
    const Sequence<T> q(call, weights, numbers, plan, nullptr);
    pack_stages(q, packed);
}

void pack(const Call& call, const Weights& weights, const Numbers& numbers, void* packed) {
    call.itemsize == 8 ? pack_all(call, weights, numbers, static_cast<double*>(packed))
                       : pack_all(call, weights, numbers, static_cast<float*>(packed));
}

void forward(const Call& call, const Weights& weights, const Numbers& numbers) {
    call.itemsize == 8 ? run_forward<double>(call, weights, numbers, kMath<double>[call.cell])
                       : run_forward<float>(call, weights, numbers, kMath<float>[call.cell]);
}

void backward(const Call& call, const Weights& weights, const Numbers& numbers, const Grads& grads,
              const Weights& weight_grads) {
    call.itemsize == 8 ? run_backward<double>(call, weights, numbers, grads, weight_grads, kMath<double>[call.cell])
                       : run_backward<float>(call, weights, numbers, grads, weight_grads, kMath<float>[call.cell]);
}

}  // namespace
}  // namespace DYNRNN_ISA

extern const Engine DYNRNN_ENGINE(DYNRNN_ISA){DYNRNN_ISA::saved_size, DYNRNN_ISA::packed_size, DYNRNN_ISA::pack,
                                              DYNRNN_ISA::forward, DYNRNN_ISA::backward};

}  // namespace dynrnn
