// The pieces of a call, longest first: where each one's steps stand in the caller's tensors and among saved steps.
#pragma once

#include <cstdint>

#include "call.hpp"

namespace dynrnn {

// Pieces are counted by their sorted position r; those that run at a step are always the first ones.
struct Plan {
    int64_t pieces = 0;          // N
    int64_t steps = 0;           // the longest length
    int64_t total = 0;           // the sum of the lengths
    int64_t* piece = nullptr;    // [N] which piece of the caller's stands at r
    int64_t* row = nullptr;      // [N] the row of the caller's tensors in which it stands
    int64_t* first = nullptr;    // [N] the time of its first step (with reverse: its last valid time)
    int64_t* length = nullptr;   // [N]
    int64_t* saved = nullptr;    // [N] number of its first step among saved steps; a piece's steps follow each other
    int64_t* running = nullptr;  // [steps + 1] how many pieces run at each step, 0 after the last
    int64_t* end = nullptr;      // [B] how many times of each row are valid

    Plan() = default;  // of no pieces
    explicit Plan(const Call& call);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

private:
    int64_t* memory = nullptr;
};

// The sum of the lengths, which is all that sizes of buffers depend on.
int64_t total_steps(const Call& call);

}  // namespace dynrnn
