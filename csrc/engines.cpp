#include "engine.hpp"

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

}  // namespace dynrnn
