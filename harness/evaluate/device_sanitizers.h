// harness/evaluate/device_sanitizers.h - a checked case on target cuda under the tools of compute-sanitizer.
#pragma once

#include <cstdint>

#include "harness/evaluate/correctness.h"

namespace apo {

// Gate "sanitizers" on target cuda: every tool of lab.device_sanitizers watches a worker of its own that makes the
// calls of `one`, all at the same time. A finding makes the candidate incorrect. Throws EnvironmentError when a tool
// wrote no whole report, so that a tool that does not work is never taken for one that found nothing.
GateResult device_sanitizer_gate(const Lab& lab, const Configuration& configuration, const CheckCase& one,
                                 std::uint64_t seed);

}  // namespace apo
