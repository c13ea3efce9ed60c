// harness/evaluate/rounds/clocks.h - the host's tick, and whether the machine is quiet.
#pragma once

#include <functional>

#include "harness/core/system/machine.h"

namespace apo {

// Measures the nanoseconds of a tick of the time stamp counter over milliseconds, once per process.
double measured_ns_per_tick();

// Waits until the hypervisor takes at most 5 % of the CPU, for at most `patience_s`; false when it never did. `read`
// and `sleep` are parameters so that tests need no noisy machine.
bool wait_for_quiet(double patience_s, const std::function<CpuTicks()>& read,
                    const std::function<void(double seconds)>& sleep);
bool wait_for_quiet(double patience_s);

}  // namespace apo
