// Room for what a training forward leaves to backward, as a tensor of torch's.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace dynrnn {

// `elements` floats of `itemsize` bytes on one axis, in memory that is kept from call to call; None where torch takes
// no tensors from DLPack's C interface.
nanobind::object kept_room(int64_t elements, int64_t itemsize);

}  // namespace dynrnn
