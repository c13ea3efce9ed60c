// harness/core/techniques/bottlenecks.h - the names of the bottlenecks that a technique may attack.
#pragma once

#include <string>
#include <vector>

namespace apo {

// The rules of harness/research/diagnosis find them; docs/diagnoses.md explains them.
inline const std::vector<std::string>& bottleneck_names() {
  static const std::vector<std::string> names = {"atomics",
                                                 "bank-conflicts",
                                                 "barrier-stalls",
                                                 "constant-serialisation",
                                                 "divergent-branches",
                                                 "double-precision",
                                                 "dram-bound",
                                                 "excess-dram-traffic",
                                                 "fence-stalls",
                                                 "fp32-bound",
                                                 "fp32-pipe",
                                                 "idle-cores",
                                                 "idle-lanes",
                                                 "idle-sms",
                                                 "instruction-fetch-stalls",
                                                 "instruction-overhead",
                                                 "integer-arithmetic",
                                                 "issue-bound",
                                                 "l2-bound",
                                                 "latency-bound",
                                                 "launch-overhead",
                                                 "libm-special-functions",
                                                 "local-array",
                                                 "low-occupancy",
                                                 "memory-bound",
                                                 "memory-latency-stalls",
                                                 "near-floor",
                                                 "not-vectorised",
                                                 "page-faults",
                                                 "per-step-overhead",
                                                 "recomputed-special-functions",
                                                 "register-spills",
                                                 "segment-cache-traffic",
                                                 "shared-bandwidth",
                                                 "shared-memory-stalls",
                                                 "shuffle-bound",
                                                 "sleeping-warps",
                                                 "special-function-bound",
                                                 "special-function-pipe",
                                                 "tail-wave",
                                                 "tensor-pipe",
                                                 "thread-overhead",
                                                 "tiny-blocks",
                                                 "uncoalesced-access",
                                                 "uneven-blocks",
                                                 "uneven-warps",
                                                 "unused-occupancy"};
  return names;
}

}  // namespace apo
