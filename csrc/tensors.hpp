// torch's tensors through DLPack's C interface, which needs no header of torch's and no call of Python's for what it
// tells: where a tensor's elements stand.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace dynrnn {

// Elements and how they lie; shape and strides belong to the tensor.
struct View {
    int64_t address = 0;
    int64_t itemsize = 0;
    bool floating = false;  // else signed integers
    int axes = 0;
    const int64_t* shape = nullptr;
    const int64_t* strides = nullptr;

    bool is_contiguous() const;
};

// Learn how instances of these classes, which add nothing to a tensor, are looked at; false where torch does not say.
bool meet(nanobind::tuple classes);

// Look at an object; false unless it is a tensor of integers or floats in this machine's memory in which nothing
// hides: no class of its own, no sign that is only noted, and all of its elements within its storage.
bool look_at(PyObject* object, View& view);

}  // namespace dynrnn
