// harness/evaluate/correctness/case_checks.h - runs the cases of a plan, several at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/evaluate/correctness/check_case.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Of the inputs of a case, by its number in the plan.
std::uint64_t seed_of_case(std::uint64_t seed, std::size_t index);

// Returns the result of every case that the configuration supports, of those that were begun before one failed.
std::vector<std::optional<CheckResult>> run_cases(const Runtime& runtime, const Configuration& configuration,
                                                  const std::vector<CheckCase>& plan, std::uint64_t seed,
                                                  const CheckProgress& progress, GateSteps& steps);

}  // namespace apo
