// How a call is divided among threads: how many take part, and who walks which rows.
#pragma once

#include "sequence.hpp"

namespace dynrnn {
namespace DYNRNN_ISA {

template <class T>
double products_of(const Sequence<T>& q) {
    const double main = double(q.call.input_size + q.call.width()) * q.main.template columns<T>();
    return q.plan.total * (main + double(q.padded) * q.second.template columns<T>());
}

// Small calls are done by the time a second thread has heard of them.
inline int members_for(const Call& call, double products) { return products < 1e6 ? 1 : int(call.threads); }

// Some milliseconds on one thread.
inline bool is_brief(double products) { return products < 2e8; }

// From which step on all members share each step. Before it enough rows run for each to walk its own, which spares
// waiting and the way of h from core to core; after it sharing the weights is worth more.
inline int64_t shared_from(const Plan& plan, int64_t weight_bytes, int members) {
    if (members == 1) return plan.steps;
    const int64_t rows = (weight_bytes <= (int64_t(256) << 10) ? 4 : 16) * members;
    int64_t s = 0;
    while (s < plan.steps && plan.running[s] >= rows) ++s;
    return s;
}

}  // namespace DYNRNN_ISA
}  // namespace dynrnn
