// What one instruction set offers to the rest of the module; calls are checked by the caller.
#pragma once

#include <vector>

#include "call.hpp"

namespace dynrnn {

struct Engine {
    int64_t (*saved_size)(const Call&, const Numbers&);
    int64_t (*packed_size)(const Call&, const Numbers&);
    void (*pack)(const Call&, const Weights&, const Numbers&, void* packed);
    void (*forward)(const Call&, const Weights&, const Numbers&);
    void (*backward)(const Call&, const Weights&, const Numbers&, const Grads&, const Weights& weight_grads);
};

#define DYNRNN_ENGINE_NAME(isa) isa##_engine
#define DYNRNN_ENGINE(isa) DYNRNN_ENGINE_NAME(isa)
extern const Engine avx512_engine, avx2_engine, neon_engine, plain_engine;  // those that were compiled

// The instruction sets that were compiled and that this machine has, best first.
struct NamedEngine {
    const char* name;
    const Engine* engine;
};
const std::vector<NamedEngine>& engines();

// The one for a call; std::out_of_range where there is none.
const Engine& engine_of(const Call& call);

}  // namespace dynrnn
