// What follows from the gradients of all sums without a recurrence: those of weights, biases, peepholes and inputs.
#pragma once

#include "sequence.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

// Steps in the order in which they are saved.
struct Step {
    const Plan* plan;
    int64_t r, s;
    Step(const Plan& plan, int64_t number) : plan(&plan), r(0), s(0) {
        int64_t low = 0, high = plan.pieces - 1;  // the last piece that begins at or before it and is not empty
        while (low < high) {
            const int64_t middle = (low + high + 1) / 2;
            if (plan.saved[middle] <= number && plan.length[middle]) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        r = low, s = number - plan.saved[low];
    }
    void next() {
        if (++s == plan->length[r]) ++r, s = 0;
    }
};

constexpr int64_t kChunk = 96;  // steps at once: a panel of their sums stays in the first cache

// The gradients of one stage's weights: operands turned, times gradients of sums. A task owns some rows of the weights
// and all of their columns, so that nobody waits for anybody and the order of the sums is always the same.
template <class T>
struct WeightGradient {
    using L = Lanes<T>;

    const Sequence<T>& q;
    const Stage& stage;  // where the gradients go
    const T* sums;       // [total, columns] gradients of the stage's sums
    const T* extra;      // what the stage multiplied besides x, null where that is h
    T* room;             // for gradients while they are summed, size() elements

    int64_t depth() const { return stage.x.depth + stage.h.depth; }
    int64_t size() const { return depth() * ceil_div(stage.vectors<T>(), kPanel) * kPanel * L::kWidth; }

    // Rows [begin, end) of x's weights and h's weights, counted through; `workspace` is the task's own.
    void run(int64_t begin, int64_t end, T* workspace) const {
        const int64_t D = stage.x.depth;
        if (begin == 0 || begin < D)  // the biases beside x are its first task's, also where x has no elements
            run_side(stage.x, 0, begin, end < D ? end : D, room, workspace);
        if (end > D) run_side(stage.h, 1, begin > D ? begin - D : 0, end - D, room + D * row_size(), workspace);
    }
    static int64_t workspace_size(int64_t rows) {
        return ceil_div(rows, L::kWidth) * L::kWidth * kChunk + kChunk * kPanel * L::kWidth;
    }

private:
    int64_t row_size() const { return size() / (depth() ? depth() : 1); }

    static bool wanted(const Side& side) {
        for (int g = 0; g < side.count; ++g)
            if (side.gates[g].pointer) return true;
        return false;
    }

    void run_side(const Side& side, int which, int64_t k0, int64_t k1, T* all, T* workspace) const {
        bool biases = false;
        for (int g = side.first; k0 == 0 && g < side.first + side.count; ++g) biases = biases || stage.biases[g][which];
        const bool weights = wanted(side);
        if (!weights && !biases) return;
        const int64_t panels = stage.panels<T>(), rows = k1 - k0;
        T* const turned = workspace;
        T* const panel_sums = workspace + ceil_div(rows, L::kWidth) * L::kWidth * kChunk;
        T* const target = all + k0 * row_size();  // [panel][row][vectors]
        if (weights && !q.plan.total) std::memset(target, 0, rows * row_size() * sizeof(T));
        typename L::Vec totals[4 * kMostPanels];
        const bool few = panels <= kMostPanels;
        if (biases && few)
            for (auto& total : totals) total = typename L::Vec{};
        for (int64_t m0 = 0; m0 < q.plan.total; m0 += kChunk) {
            const int64_t many = q.plan.total - m0 < kChunk ? q.plan.total - m0 : kChunk;
            if (weights) turn(which, k0, rows, m0, many, turned);
            for (int64_t panel = 0; panel < panels; ++panel) {
                const int vectors = gather(side, panel, m0, many, panel_sums);
                if (biases && few) add_up(panel_sums, many, vectors, totals + panel * kPanel);
                if (weights)
                    multiply_panel(turned, panel_sums, many, vectors, rows, m0 > 0,
                                   target + panel_at(panel, side, rows));
            }
        }
        if (biases && few) write_biases(side, which, totals);
        if (biases && !few) sum_biases(side, which);
        if (weights) write(side, k0, rows, target);
    }

    static constexpr int64_t kMostPanels = 64;
    int64_t panel_at(int64_t panel, const Side& side, int64_t rows) const {
        return panel * rows * (stage.apart() ? side.count : kPanel) * L::kWidth;
    }

    // turned[k - k0][m - m0] = operand(m)[k]
    void turn(int which, int64_t k0, int64_t rows, int64_t m0, int64_t many, T* turned) const {
        Step step(q.plan, m0);
        for (int64_t m = 0; m < many; m += L::kWidth) {
            const T* operands[L::kWidth] = {};
            const int64_t some = many - m < L::kWidth ? many - m : L::kWidth;
            for (int64_t i = 0; i < some; ++i, step.next())
                operands[i] = (which == 0 ? q.x_of(step.r, step.s)
                               : extra    ? extra + (m0 + m + i) * q.padded
                                          : q.h_before(step.r, step.s)) +
                              k0;
            for (int64_t k = 0; k < rows; k += L::kWidth) {
                typename L::Vec square[L::kWidth];
                for (int64_t i = 0; i < L::kWidth; ++i)
                    square[i] = i < some ? L::load(operands[i] + k, rows - k) : typename L::Vec{};
                transpose<T>(square);
                for (int64_t i = 0; i < L::kWidth; ++i) L::store(turned + (k + i) * kChunk + m, square[i]);
            }
        }
    }

    // The panel's vectors that the side reaches, step by step without gaps; returns how many they are.
    int gather(const Side& side, int64_t panel, int64_t m0, int64_t many, T* to) const {
        const int shape = stage.shape<T>(panel), vectors = stage.apart() ? side.count : shape;
        const int64_t offset = (panel * kPanel + (stage.apart() ? side.first : 0)) * L::kWidth;
        const T* from = sums + m0 * stage.columns<T>() + offset;
        for (int64_t m = 0; m < many; ++m, from += stage.columns<T>())
            for (int v = 0; v < vectors; ++v, to += L::kWidth) L::store(to, L::load(from + v * L::kWidth));
        return vectors;
    }

    static void add_up(const T* from, int64_t many, int vectors, typename L::Vec* totals) {
        for (int64_t m = 0; m < many; ++m)
            for (int v = 0; v < vectors; ++v, from += L::kWidth) totals[v] += L::load(from);
    }

    static void multiply_panel(const T* turned, const T* panel_sums, int64_t many, int vectors, int64_t rows, bool add,
                               T* to) {
        Operand<T> left;
        const Operand<T> none{};
        left.segments = 1, left.length = many;
        const Blocks blocks(rows);
        for (int64_t block = 0; block < blocks.count; ++block) {
            const int64_t begin = blocks.begin(block), some = blocks.begin(block + 1) - begin;
            for (int64_t i = 0; i < some; ++i) left.rows[i] = turned + (begin + i) * kChunk;
            T* const place = to + begin * vectors * L::kWidth;
            tile<T>(int(some), vectors)(left, none, panel_sums, add ? place : nullptr, vectors * L::kWidth, place,
                                        nullptr);
        }
    }

    void write(const Side& side, int64_t k0, int64_t rows, const T* target) const {
        for (int64_t panel = 0; panel < stage.panels<T>(); ++panel) {
            const int vectors = stage.apart() ? side.count : stage.shape<T>(panel);
            each_vector<T>(stage, panel, [&](int vector, int gate, int64_t unit) {
                const int place = gate - side.first;
                if (place < 0 || place >= side.count || !side.gates[place].pointer) return;
                const int column = stage.apart() ? place : vector;
                copy_out<T>(target + panel_at(panel, side, rows) + column * L::kWidth, vectors * L::kWidth,
                            side.gates[place], k0, rows, unit, stage.units - unit);
            });
        }
    }

    void write_bias(int which, int gate, int64_t unit, typename L::Vec total) const {
        const int64_t to = stage.biases[gate][which];
        if (to) L::store(at<T>(to) + unit, total, stage.units - unit);
    }
    void write_biases(const Side& side, int which, const typename L::Vec* totals) const {
        for (int64_t panel = 0; panel < stage.panels<T>(); ++panel)
            each_vector<T>(stage, panel, [&](int vector, int gate, int64_t unit) {
                const int place = stage.apart() ? gate - side.first : vector;
                if (gate < side.first || gate >= side.first + side.count) return;
                write_bias(which, gate, unit, totals[panel * kPanel + place]);
            });
    }
    void sum_biases(const Side& side, int which) const {
        for (int64_t panel = 0; panel < stage.panels<T>(); ++panel)
            each_vector<T>(stage, panel, [&](int vector, int gate, int64_t unit) {
                if (gate < side.first || gate >= side.first + side.count) return;
                const T* from = sums + (panel * kPanel + vector) * L::kWidth;
                typename L::Vec total{};
                for (int64_t m = 0; m < q.plan.total; ++m) total += L::load(from + m * stage.columns<T>());
                write_bias(which, gate, unit, total);
            });
    }
};

template <class T, class Vec>
void store_peepholes(const Sequence<T>& q, const Weights& to, int64_t unit, Vec i, Vec f, Vec o) {
    const Vec totals[] = {i, f, o};
    for (int p = 0; p < 3; ++p)
        if (to.peepholes[p]) Lanes<T>::store(at<T>(to.peepholes[p]) + unit, totals[p], q.units - unit);
}

// The peepholes' gradients: gradients of the gates' sums times what the peephole showed them.
template <class T>
void peephole_gradient(const Sequence<T>& q, const Weights& to, int64_t unit) {
    using L = Lanes<T>;
    typename L::Vec i{}, f{}, o{};
    if (q.plan.total == 0) return store_peepholes(q, to, unit, i, f, o);
    Step step(q.plan, 0);
    for (int64_t m = 0; m < q.plan.total; ++m, step.next()) {
        const T* gates = q.gates + m * q.main.template columns<T>() + 4 * unit;
        const auto before = L::load(q.c_before(step.r, step.s) + unit);
        i += L::load(gates) * before, f += L::load(gates + 2 * L::kWidth) * before;
        o += L::load(gates + 3 * L::kWidth) * L::load(q.cells + m * q.padded + unit);
    }
    store_peepholes(q, to, unit, i, f, o);
}

// dx of the steps [begin, end) as they are saved.
template <class T>
void input_gradient(const Sequence<T>& q, const Back& to_x, const T* packed, int64_t begin, int64_t end) {
    using L = Lanes<T>;
    Operand<T> main, second;
    to_x.describe(0, main), to_x.describe(1, second);
    const int64_t columns = q.main.template columns<T>(), columns2 = q.second.template columns<T>();
    const T* const from = q.gates + to_x.offset<T>(0);
    alignas(kBytes) T sums[kRows * kPanel * L::kWidth];
    for (int64_t panel = 0; panel < to_x.panels<T>(); ++panel) {
        const int shape = to_x.shape<T>(panel);
        const int64_t unit = panel * to_x.vectors * L::kWidth;
        const Blocks blocks(end - begin);
        Step step(q.plan, begin);
        for (int64_t block = 0; block < blocks.count; ++block) {
            const int64_t m = begin + blocks.begin(block), many = begin + blocks.begin(block + 1) - m;
            for (int64_t i = 0; i < many; ++i) {
                main.rows[i] = from + (m + i) * columns;
                second.rows[i] = q.gates2 + (m + i) * columns2;
            }
            tile<T>(int(many), shape)(main, second, packed + to_x.panel_at<T>(panel), nullptr, 0, sums, nullptr);
            for (int64_t i = 0; i < many; ++i, step.next())
                for (int v = 0; v < shape; ++v) {
                    const int64_t element = unit + v * L::kWidth;
                    L::store(q.dx_of(step.r, step.s) + element, L::load(sums + (i * shape + v) * L::kWidth),
                             q.call.input_size - element);
                }
        }
    }
}

template <class T>
void clear_dx_padding(const Sequence<T>& q, int64_t row) {
    for (int64_t t = q.plan.end[row]; t < q.call.time; ++t)
        std::memset(at<T>(q.grads->dx) + row * q.grads->dx_row + t * q.grads->dx_time, 0,
                    q.call.input_size * sizeof(T));
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
