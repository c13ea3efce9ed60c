// harness/evaluate/clocks.h - do the clocks of a round agree, and is the machine quiet enough to begin?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/machine.h"
#include "harness/worker/protocol.h"

namespace apo {

// Nanoseconds of a tick of the time stamp counter, as this process measures it over a millisecond; once.
double measured_ns_per_tick();

// Two clocks read at the same places by the worker: their totals over a round have to be in the ratio that the parent
// measured for itself, within 2 %. A third, CPU time, can't exceed time x threads. Returns what is wrong.
std::optional<std::string> clock_disagreement(const std::vector<RawSample>& samples, double ns_per_tick, int threads);

// Waits until the hypervisor takes at most 5 % of the CPU from us, for at most `patience_s`; false when it never did.
// `read` and `sleep` are given so that tests need no noisy machine.
bool wait_for_quiet(double patience_s, const std::function<CpuTicks()>& read,
                    const std::function<void(double seconds)>& sleep);
bool wait_for_quiet(double patience_s);

}  // namespace apo
