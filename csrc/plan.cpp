#include "plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <numeric>

namespace dynrnn {
namespace {

int64_t length_of(const Call& call, int64_t piece) {
    return call.length ? at<const int64_t>(call.length)[piece] : call.time;
}

}  // namespace

int64_t total_steps(const Call& call) {
    if (!call.length) return call.pieces * call.time;
    int64_t sum = 0;
    for (int64_t i = 0; i < call.pieces; ++i) sum += length_of(call, i);
    return sum;
}

Plan::Plan(const Call& call) : pieces(call.pieces) {
    for (int64_t i = 0; i < pieces; ++i) steps = std::max(steps, length_of(call, i));
    memory = static_cast<int64_t*>(std::calloc(5 * pieces + steps + 1 + call.batch, sizeof(int64_t)));
    if (!memory) throw std::bad_alloc();
    piece = memory, row = piece + pieces, first = row + pieces, length = first + pieces, saved = length + pieces;
    running = saved + pieces, end = running + steps + 1;

    std::iota(piece, piece + pieces, int64_t(0));
    std::stable_sort(piece, piece + pieces,
                     [&](int64_t a, int64_t b) { return length_of(call, a) > length_of(call, b); });
    for (int64_t r = 0; r < pieces; ++r) {
        const int64_t i = piece[r];
        length[r] = length_of(call, i);
        const int64_t start = call.start ? at<const int64_t>(call.start)[i] : 0;
        row[r] = call.row ? at<const int64_t>(call.row)[i] : i;
        first[r] = call.reverse ? start + length[r] - 1 : start;
        saved[r] = total;
        total += length[r];
        end[row[r]] = std::max(end[row[r]], start + length[r]);
        for (int64_t s = r + 1 < pieces ? length_of(call, piece[r + 1]) : 0; s < length[r]; ++s) running[s] = r + 1;
    }
}

Plan::~Plan() { std::free(memory); }

}  // namespace dynrnn
