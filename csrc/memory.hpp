// How rows and panels come: copied with their padding, or into a cache before they are needed.
#pragma once

#include "simd.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

// A row of `width` elements, zeros where there is none, filled up with zeros to `padded`.
template <class T>
void copy_row(T* to, const T* from, int64_t width, int64_t padded) {
    if (from) {
        std::memcpy(to, from, width * sizeof(T));
        std::memset(to + width, 0, (padded - width) * sizeof(T));
    } else {
        std::memset(to, 0, padded * sizeof(T));
    }
}

// The part of the next panel that a block of rows brings into the second cache while it works on this one: the first
// four blocks bring a quarter each, a line for each of `depth` elements. Null where there is nothing to bring.
template <class T>
const T* next_part(const T* panel, bool exists, int64_t block, int64_t depth) {
    return exists && block < 4 ? panel + block * depth * (64 / int64_t(sizeof(T))) : nullptr;
}

// Ask for a row's lines at once: another core may have written them, and one after the other they would be slow to
// come. Long rows have time to come one after the other, and would push out what else the first cache holds.
template <class T>
void fetch(const T* row, int64_t elements) {
    if (elements > 2048 / int64_t(sizeof(T))) return;
    for (int64_t i = 0; i < elements; i += 64 / int64_t(sizeof(T))) __builtin_prefetch(row + i);
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
