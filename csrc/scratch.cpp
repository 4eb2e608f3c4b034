#include "scratch.hpp"

#include <pthread.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace dynrnn {
namespace {

struct Block {
    char* memory;
    int64_t size;
};
constexpr int kKept = 32;
constexpr int64_t kWaste = 4;  // a block is not given away for less than this part of it
#ifdef __SANITIZE_ADDRESS__
constexpr int64_t kKeptBytes = 0;  // a block that is kept hides what is written past its end
#else
constexpr int64_t kKeptBytes = int64_t(256) << 20;
#endif
std::mutex kept_mutex;
Block kept[kKept];

// A fork waits until no other thread is at the kept blocks, else the child would find them locked for ever.
const int watch_forks =
    pthread_atfork([] { kept_mutex.lock(); }, [] { kept_mutex.unlock(); }, [] { kept_mutex.unlock(); });

// Wide layers read more pages of packed weights in each step than a core remembers: these ask for large ones.
constexpr int64_t kLargePage = int64_t(1) << 21;

Block new_block(int64_t bytes) {
    const int64_t align = bytes < kLargePage ? kAlign : kLargePage, size = ceil_to(bytes, align);
    void* const memory = std::aligned_alloc(align, size);
    if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (align == kLargePage) madvise(memory, size, MADV_HUGEPAGE);  // a system may know none
#endif
#ifdef __SANITIZE_ADDRESS__
    std::memset(memory, 0xff, size);  // NaN, so that nothing reads what was never written
#endif
    return {static_cast<char*>(memory), size};
}

// The smallest of the kept blocks that fit; none where all are too small or far too large.
Block kept_block(int64_t bytes) {
    const std::lock_guard<std::mutex> lock(kept_mutex);
    Block* best = nullptr;
    for (Block& block : kept)
        if (block.size >= bytes && block.size / kWaste <= bytes && (!best || block.size < best->size)) best = &block;
    const Block found = best ? *best : Block{};
    if (best) *best = Block{};
    return found;
}

// Keep a block, perhaps in place of a smaller one; returns what is then to be freed.
char* keep(const Block& given) {
    const std::lock_guard<std::mutex> lock(kept_mutex);
    Block* smallest = &kept[0];
    int64_t all = given.size;
    for (Block& block : kept) {
        all += block.size;
        if (block.size < smallest->size) smallest = &block;
    }
    if (all > kKeptBytes || smallest->size >= given.size) return given.memory;
    char* const replaced = smallest->memory;
    *smallest = given;
    return replaced;
}

}  // namespace

Scratch::Scratch(int64_t bytes) {
    (void)watch_forks;
    if (!bytes) return;
    Block block = kept_block(bytes);
    if (!block.memory) block = new_block(bytes);
    memory = block.memory, size = block.size;
}

Scratch::~Scratch() {
    if (memory) std::free(keep({memory, size}));
}

void* Scratch::take(int64_t bytes) {
    char* part = memory + used;
    used += aligned(bytes);
    return part;
}

}  // namespace dynrnn
