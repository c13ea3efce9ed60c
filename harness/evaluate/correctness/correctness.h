// harness/evaluate/correctness/correctness.h - the gate "correctness": checks shapes and regimes with the reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/correctness/correctness_plan.h"
#include "harness/runtime/runtime.h"

namespace apo {

using CheckProgress = std::function<void(int done, int all, const std::string& what)>;

// Runs all cases that the configuration supports, until one fails. Throws Cancelled after a stop of the runtime's
// workers.
GateResult correctness_gate(const Runtime& runtime, const Configuration& configuration,
                            const std::vector<CheckCase>& plan, std::uint64_t seed, const CheckProgress& progress = {});

}  // namespace apo
