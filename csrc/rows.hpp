// Which rows a task works on, and small things that walks in both directions need.
#pragma once

#include "sequence.hpp"
#include "worker.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

// All pieces dealt out to groups that are walked each by one member; long and short ones go to every group alike.
struct Groups {
    int64_t pieces, count;
    Groups(int64_t pieces, int members) : pieces(pieces) {
        const int64_t most = ceil_div(pieces, 2 * kRows);
        count = pieces >= 64 * members ? 2 * members : members;
        if (count > most) count = most > 0 ? most : 1;
    }
    Rows of(int64_t group) const { return Rows{group, count, group < pieces ? ceil_div(pieces - group, count) : 0}; }
};

// The rows that run at a step in as many parts as it takes to give every member something to do.
struct Parts {
    int64_t rows, count;
    Parts(int64_t rows, int64_t panels, int members) : rows(rows), count(1) {
        if (members > 1 && panels < 2 * members) {
            const int64_t blocks = ceil_div(rows, kRows);
            count = ceil_div(2 * members, panels);
            if (count > blocks) count = blocks > 0 ? blocks : 1;
        }
    }
    Rows of(int64_t part) const {
        const int64_t begin = part * rows / count;
        return Rows{begin, 1, (part + 1) * rows / count - begin};
    }
};

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

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
