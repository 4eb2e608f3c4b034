// DLPack 1: the parts of its header that are used here, under names of our own.
#pragma once

#include <cstdint>

namespace dynrnn::dlpack {

struct Version {
    uint32_t major, minor;
};
enum DeviceType : int32_t { kCpu = 1 };
enum Kind : uint8_t { kSigned = 0, kFloat = 2 };
struct Seen {  // DLTensor
    void* data;
    int32_t device_type, device_id;
    int32_t axes;
    uint8_t kind, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct Managed {  // DLManagedTensorVersioned
    Version version;
    void* owner;
    void (*release)(Managed*);
    uint64_t flags;
    Seen seen;
};
struct Exchange {  // DLPackExchangeAPI
    Version version;
    const void* older;
    const void *allocate, *export_owned;
    int (*adopt)(Managed*, void** object);
    int (*look)(void* object, Seen*);
    const void* stream;
};

// torch's; null until `meet` has been told its classes, and where torch has none.
extern const Exchange* exchange;

}  // namespace dynrnn::dlpack
