// Stages: products of a step, and their weights packed into panels in the order in which tiles read them.
//
// A stage has G gates. Its columns are ordered unit vector by unit vector (kWidth units), within one gate by gate, so
// that all gates of a unit meet in one tile; a panel is kPanel such vectors, the last one may be narrower.
#pragma once

#include "call.hpp"
#include "tile.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

constexpr int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

// The weights between one operand (x, h, or what a second stage multiplies) and the gates that it reaches.
struct Side {
    int64_t depth = 0;  // elements of the operand
    int first = 0, count = 0;
    Matrix gates[4] = {};  // [gate - first]
};

// sums[gate][unit] = bias + x @ left + h @ right for `units` units.
struct Stage {
    int gates = 0;
    int64_t units = 0;
    Side x, h;
    int64_t biases[4][2] = {};  // addresses, 0: none
    double constants[4] = {};

    template <class T>
    int64_t unit_vectors() const {
        return ceil_div(units, Lanes<T>::kWidth);
    }
    template <class T>
    int64_t vectors() const {
        return unit_vectors<T>() * gates;
    }
    template <class T>
    int64_t columns() const {  // with those that fill the last vector up
        return vectors<T>() * Lanes<T>::kWidth;
    }
    bool apart() const { return gates == 4 && x.count == 3; }
    template <class T>
    int64_t panels() const {
        return ceil_div(vectors<T>(), kPanel);
    }
    template <class T>
    int shape(int64_t panel) const {
        if (apart()) return kApart;
        const int64_t left = vectors<T>() - panel * kPanel;
        return int(left < kPanel ? left : kPanel);
    }
    // Packed: all biases, then the panels, each with the rows of x and then those of h.
    template <class T>
    int64_t panel_at(int64_t panel) const {
        const int64_t vectors = apart() ? 3 : kPanel;
        return columns<T>() + panel * vectors * Lanes<T>::kWidth * (x.depth + h.depth);
    }
    template <class T>
    int64_t packed_size() const {
        const int64_t all = panels<T>() * (apart() ? 3 : kPanel);
        return columns<T>() + all * Lanes<T>::kWidth * (x.depth + h.depth);
    }
};

// The transposed products of backward: from sums of stages back to an operand of `width` elements.
struct Back {
    int64_t width = 0;
    int vectors = kPanel;  // of a panel
    const Stage* stages[2] = {};
    const Side* sides[2] = {};

    template <class T>
    int64_t depth(int which) const {
        if (!stages[which]) return 0;
        return stages[which]->unit_vectors<T>() * sides[which]->count * Lanes<T>::kWidth;
    }
    template <class T>
    int64_t all_vectors() const {
        return ceil_div(width, Lanes<T>::kWidth);
    }
    template <class T>
    int64_t panels() const {
        return ceil_div(all_vectors<T>(), vectors);
    }
    template <class T>
    int shape(int64_t panel) const {
        const int64_t left = all_vectors<T>() - panel * vectors;
        return int(left < vectors ? left : vectors);
    }
    template <class T>
    int64_t panel_at(int64_t panel) const {
        return panel * vectors * Lanes<T>::kWidth * (depth<T>(0) + depth<T>(1));
    }
    template <class T>
    int64_t packed_size() const {
        return panel_at<T>(panels<T>());
    }
    // A row of sums as the operand of these products.
    template <class T>
    void describe(int which, Operand<T>& operand) const {
        const Stage* stage = stages[which];
        if (!stage) return;
        const Side& side = *sides[which];
        if (side.count == stage->gates) {
            operand.segments = 1, operand.length = stage->columns<T>(), operand.stride = 0;
        } else {
            operand.segments = stage->unit_vectors<T>();
            operand.length = side.count * Lanes<T>::kWidth, operand.stride = stage->gates * Lanes<T>::kWidth;
        }
    }
    template <class T>
    int64_t offset(int which) const {
        return sides[which]->first * Lanes<T>::kWidth;
    }
};

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
