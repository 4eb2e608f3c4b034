// The Python module dynrnn._kernels, which only dynrnn/kernels calls. Of integers it checks no more than how many they
// are; everything else about them is checked before they come. Tensors are checked by LayerCall.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine.hpp"
#include "layer.hpp"
#include "room.hpp"
#include "tensors.hpp"

namespace nb = nanobind;

namespace dynrnn {
namespace {

using Integers = std::vector<int64_t>;
using Doubles = std::vector<double>;

// A list of numbers as the struct that it spells out.
template <class To, class From>
To as(const std::vector<From>& list, const char* name) {
    static_assert(sizeof(To) % sizeof(From) == 0);
    if (list.size() != sizeof(To) / sizeof(From))
        throw std::invalid_argument(std::string(name) + " must have " + std::to_string(sizeof(To) / sizeof(From)) +
                                    " entries, got " + std::to_string(list.size()));
    To value;
    std::memcpy(&value, list.data(), sizeof(To));
    return value;
}

std::vector<std::string> isas() {
    std::vector<std::string> names;
    for (const NamedEngine& one : engines()) names.push_back(one.name);
    return names;
}

int64_t saved_size(const Integers& call, const Doubles& numbers) {
    const Call made = as<Call>(call, "call");
    return engine_of(made).saved_size(made, as<Numbers>(numbers, "numbers"));
}

int64_t packed_size(const Integers& call, const Doubles& numbers) {
    const Call made = as<Call>(call, "call");
    return engine_of(made).packed_size(made, as<Numbers>(numbers, "numbers"));
}

void pack(const Integers& call, const Integers& weights, const Doubles& numbers, int64_t packed) {
    const Call made = as<Call>(call, "call");
    engine_of(made).pack(made, as<Weights>(weights, "weights"), as<Numbers>(numbers, "numbers"), at<void>(packed));
}

void forward(const Integers& call, const Integers& weights, const Doubles& numbers) {
    const Call made = as<Call>(call, "call");
    const Weights where = as<Weights>(weights, "weights");
    const Numbers values = as<Numbers>(numbers, "numbers");
    const nb::gil_scoped_release released;
    engine_of(made).forward(made, where, values);
}

void backward(const Integers& call, const Integers& weights, const Doubles& numbers, const Integers& grads,
              const Integers& weight_grads) {
    const Call made = as<Call>(call, "call");
    const Weights where = as<Weights>(weights, "weights"), to = as<Weights>(weight_grads, "weight_grads");
    const Numbers values = as<Numbers>(numbers, "numbers");
    const Grads given = as<Grads>(grads, "grads");
    const nb::gil_scoped_release released;
    engine_of(made).backward(made, where, values, given, to);
}

using Places = std::vector<std::tuple<int64_t, int64_t, int64_t>>;

std::shared_ptr<Layer> make_layer(const Integers& known, const std::vector<Integers>& shapes, const Integers& constants,
                                  const Places& places, const Doubles& numbers) {
    auto layer = std::make_shared<Layer>();
    layer->known = as<Call>(known, "known");
    layer->shapes = shapes;
    layer->constants = as<Weights>(constants, "constants");
    layer->numbers = as<Numbers>(numbers, "numbers");
    for (const auto& [field, weight, offset] : places) {
        if (field < 0 || field >= kWeightFields || weight < 0 || weight >= int64_t(shapes.size()))
            throw std::out_of_range("a place is not among the fields, or of none of the weights");
        layer->places.push_back({field, weight, offset});
    }
    return layer;
}

std::unique_ptr<LayerCall> look(std::shared_ptr<Layer> layer, nb::handle inputs, nb::handle state, nb::handle lengths,
                                nb::handle weights, bool time_major, bool reverse, int64_t isa, int64_t threads) {
    return LayerCall::of(std::move(layer), {time_major, reverse, isa, threads}, inputs, state, lengths, weights);
}

nb::tuple names(std::initializer_list<const char*> list) {
    nb::list made;
    for (const char* name : list) made.append(name);
    return nb::tuple(made);
}

}  // namespace
}  // namespace dynrnn

NB_MODULE(_kernels, module) {
    using namespace dynrnn;
    nb::set_leak_warnings(false);  // caches of the Python side hold layers until the process ends
    module.doc() =
        "Fused recurrences. Addresses and sizes are integers, which nothing here checks; Layer takes tensors.";
#define DYNRNN_NAME(name) #name,
    module.attr("CALL") = names({DYNRNN_CALL(DYNRNN_NAME)});
    module.attr("WEIGHTS") = names({DYNRNN_WEIGHTS(DYNRNN_NAME)});
    module.attr("NUMBERS") = names({DYNRNN_NUMBERS(DYNRNN_NAME)});
    module.attr("GRADS") = names({DYNRNN_GRADS(DYNRNN_NAME)});
    module.def("isas", &isas, "Instruction sets that were built and that this machine has, best first.");
    module.def("saved_size", &saved_size, "Elements that a training forward needs in `saved`.");
    module.def("packed_size", &packed_size, "Elements that packed weights need.");
    module.def("pack", &pack, "Pack the weights for calls like this one.");
    module.def("forward", &forward, "Run one layer in one direction over whole sequences.");
    module.def("backward", &backward, "Compute all gradients of a forward call; overwrites `saved`.");
    module.def("meet", &meet, "Learn torch's classes of tensors; whether it lets them be looked at.");
    module.def("kept_room", &kept_room, "A tensor of one axis in memory that is kept from call to call.");
    nb::class_<Layer>(module, "Layer", "What is known of a layer before its tensors come.")
        .def(nb::new_(&make_layer))
        .def("look", &look, nb::arg("inputs"), nb::arg("state").none(), nb::arg("lengths").none(), nb::arg("weights"),
             nb::arg("time_major"), nb::arg("reverse"), nb::arg("isa"), nb::arg("threads"),
             "A call, if all that it reads is plain and fits.");
    nb::class_<LayerCall>(module, "LayerCall", "A call whose tensors were looked at and are kept alive by the caller.")
        .def("saved_size", &LayerCall::saved_size, "Elements that a training forward keeps.")
        .def("forward", &LayerCall::forward, "Run forward into tensors at these addresses.")
        .def("backward", &LayerCall::backward, "Run backward; false where a tensor is not plain or does not fit.");
}
