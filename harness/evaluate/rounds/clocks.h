// harness/evaluate/rounds/clocks.h - checks that the clocks of a round agree and that the machine is quiet.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/machine.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {

// Measures the nanoseconds of a tick of the time stamp counter over milliseconds, once per process.
double measured_ns_per_tick();

struct GpuClockDisagreement {
  std::string evidence;  // one sentence with both clocks' numbers
  int slot = -1;
};

// Target cuda, samples that CUPTI Activity recorded: the host has to see at least what the events see, and those what
// the records span, with the few microseconds that an event pair costs; each slot has to have launched `kernels` of it.
// 0: nobody knows how many, and host code may take time beside them. Work that was hidden on another stream, or a
// stretched or shortened clock, shows here.
std::optional<GpuClockDisagreement> gpu_clock_disagreement(const std::vector<RawSample>& samples,
                                                           const std::array<std::int64_t, 2>& kernels);

// Waits until the hypervisor takes at most 5 % of the CPU, for at most `patience_s`; false when it never did. `read`
// and `sleep` are parameters so that tests need no noisy machine.
bool wait_for_quiet(double patience_s, const std::function<CpuTicks()>& read,
                    const std::function<void(double seconds)>& sleep);
bool wait_for_quiet(double patience_s);

}  // namespace apo
