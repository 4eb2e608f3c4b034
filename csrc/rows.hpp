// Which rows a task works on.
#pragma once

#include "stage.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

// Pieces first, first + stride, ... by sorted position.
struct Rows {
    int64_t first, stride, count;
    int64_t at(int64_t i) const { return first + i * stride; }
    Rows from(int64_t i, int64_t many) const { return Rows{at(i), stride, many}; }
    // Those whose position is below `end`, which are the first ones.
    Rows below(int64_t end) const {
        const int64_t some = first < end ? ceil_div(end - first, stride) : 0;
        return Rows{first, stride, some < count ? some : count};
    }
};

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

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
