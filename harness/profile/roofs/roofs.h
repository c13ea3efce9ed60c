// harness/profile/roofs/roofs.h - measures what this machine can reach, with small loops; nothing comes from a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// The roofs of this host. A name without a suffix is for `threads` threads together, "<name>_1" for one.
//   fp32_fma, fp32_scalar_1       flop/s, vector and scalar multiply-add chains (an fma counts 2)
//   special_tanh                  op/s, a vectorised tanh of relative error 2^-12
//   libm_tanh, libm_exp           op/s, std::tanh(float) and std::exp(float), one value at a time
//   l2_copy, llc_copy, memory_copy  byte/s, read plus written, at the footprint that the note states
//   thread_start                  s, to start and join `threads` threads
//   page_fault, call_overhead     s, first touch of a page, and one timed call of a function that does nothing
// Takes about `budget_s` seconds (1.5 is a good one) and at most 1/8 of the memory.
// `threads` < 1 means 1. The caller caches the result per machine.
std::vector<Roof> measure_host_roofs(int threads, double budget_s);

// A rate is the 90th percentile of its samples (interference only lowers them), a cost, in "s", the median, each with a
// distribution-free 95 % interval.
Roof roof_of(const std::string& name, const std::string& unit, std::vector<double> samples, const std::string& note);

// nullptr when absent.
const Roof* find_roof(const std::vector<Roof>& roofs, const std::string& name);

}  // namespace apo
