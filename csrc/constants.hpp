// What every pass reads besides packed weights: zeros where no h is given, and peepholes filled up with zeros.
#pragma once

#include "memory.hpp"
#include "scratch.hpp"
#include "sequence.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
int64_t constants_size(const Sequence<T>& q) {
    return aligned(q.call.width() * sizeof(T)) + (q.peephole ? aligned(3 * q.padded * sizeof(T)) : 0);
}

template <class T>
void place_constants(Sequence<T>& q, Scratch& scratch) {
    const int64_t zeros = q.call.width() * sizeof(T);
    q.zeros = static_cast<T*>(scratch.take(zeros));
    std::memset(q.zeros, 0, zeros);
    if (!q.peephole) return;
    q.peepholes = static_cast<T*>(scratch.take(3 * q.padded * sizeof(T)));
    for (int p = 0; p < 3; ++p)
        copy_row(q.peepholes + p * q.padded, at<const T>(q.weights.peepholes[p]), q.units, q.padded);
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
