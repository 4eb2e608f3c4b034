// A call made from tensors as they come: what dynrnn/kernels/call.py does step by step, for tensors that need no second
// look. Whatever does not fit is left to it, which then finds the words.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "call.hpp"

namespace dynrnn {

// What is known of a layer before its tensors come: shapes of its weights, and where the kernels look in them.
struct Layer {
    struct Place {
        int64_t field, weight, offset;  // an address among Weights: a weight's, and bytes from its beginning
    };
    Call known;  // cell, itemsize, input_size, units, projection
    std::vector<std::vector<int64_t>> shapes;
    Weights constants;
    std::vector<Place> places;
    Numbers numbers;

    Weights weights_at(const std::vector<int64_t>& addresses) const;  // an address of 0: there is none
};

class LayerCall {
public:
    // How a call differs from others of its layer.
    struct Way {
        bool time_major, reverse;
        int64_t isa, threads;
    };

    // Look at what a call reads; nothing where some of it is not plain, or does not fit. `state` are the cell's tensors
    // in its order, `lengths` a tensor or a list, each of them None where there is none.
    static std::unique_ptr<LayerCall> of(std::shared_ptr<const Layer> layer, Way way, nanobind::handle inputs,
                                         nanobind::handle state, nanobind::handle lengths, nanobind::handle weights);

    // Elements that a training forward keeps.
    int64_t saved_size() const;

    // Run forward into tensors at these addresses, laid out without gaps; an address of 0: there is none.
    void forward(int64_t out, int64_t hn, int64_t cn, int64_t saved, int64_t packed);

    // Run backward: what forward left, the gradients of its results, and where the gradients of inputs, state and
    // weights go, each of them None where there is none. False, and nothing is done, where some of it does not fit.
    bool backward(nanobind::handle out, nanobind::handle saved, nanobind::handle grads, nanobind::handle found);

private:
    bool take_inputs(nanobind::handle inputs, bool time_major);
    bool take_lengths(nanobind::handle given);
    bool take_state(nanobind::handle given);
    bool take_weights(nanobind::handle given);
    bool has_cells() const;  // whether the state is (c, h)

    std::shared_ptr<const Layer> layer;
    bool time_major = false;
    Call call{};
    Weights weights{};
    std::vector<int64_t> lengths;
};

}  // namespace dynrnn
