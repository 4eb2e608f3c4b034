#include "engine.hpp"

#include <stdexcept>

namespace dynrnn {

const std::vector<NamedEngine>& engines() {
    static const std::vector<NamedEngine> found = [] {
        std::vector<NamedEngine> list;
#if defined(__x86_64__)
        const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
        const bool fma = __builtin_cpu_supports("fma");
        if (avx512 && fma) list.push_back({"avx512", &avx512_engine});
        if (__builtin_cpu_supports("avx2") && fma) list.push_back({"avx2", &avx2_engine});
        list.push_back({"plain", &plain_engine});
#elif defined(__aarch64__)
        list.push_back({"neon", &neon_engine});
#else
        list.push_back({"plain", &plain_engine});
#endif
        return list;
    }();
    return found;
}

const Engine& engine_of(const Call& call) {
    const auto& all = engines();
    const int64_t number = call.isa < 0 ? 0 : call.isa;
    if (number >= int64_t(all.size())) throw std::out_of_range("isa is not among isas()");
    if (call.cell < 0 || call.cell >= kCells) throw std::out_of_range("there is no such cell");
    return *all[number].engine;
}

}  // namespace dynrnn
