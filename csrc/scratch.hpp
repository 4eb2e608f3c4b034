// Memory that is kept from call to call, so that its pages are not mapped anew each time.
#pragma once

#include <cstdint>

namespace dynrnn {

constexpr int64_t kAlign = 128;
inline int64_t ceil_to(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }
inline int64_t aligned(int64_t bytes) { return ceil_to(bytes, kAlign); }

// One block, aligned for any vector, that is given back in the end.
class Scratch {
public:
    explicit Scratch(int64_t bytes);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    void* take(int64_t bytes);  // a part of it, aligned

private:
    char* memory = nullptr;
    int64_t size = 0, used = 0;
};

}  // namespace dynrnn
