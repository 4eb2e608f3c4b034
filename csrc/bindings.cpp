// The Python module dynrnn._kernels. It checks no more than the lengths of lists: dynrnn/kernels/call.py is its only
// caller and checks everything else.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine.hpp"

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

const Engine& engine_of(const Call& call) {
    const auto& all = engines();
    const int64_t number = call.isa < 0 ? 0 : call.isa;
    if (number >= int64_t(all.size())) throw std::out_of_range("isa is not among isas()");
    if (call.cell < 0 || call.cell >= kCells) throw std::out_of_range("there is no such cell");
    return *all[number].engine;
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

nb::tuple names(std::initializer_list<const char*> list) {
    nb::list made;
    for (const char* name : list) made.append(name);
    return nb::tuple(made);
}

}  // namespace
}  // namespace dynrnn

NB_MODULE(_kernels, module) {
    using namespace dynrnn;
    module.doc() = "Fused recurrences; addresses and sizes are integers, and nothing here checks them.";
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
}
