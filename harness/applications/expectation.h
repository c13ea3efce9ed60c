// harness/applications/expectation.h - what the kernel's effect lets expect of an application, by Amdahl's law.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/applications/application_profile.h"
#include "harness/core/comparisons/comparison.h"
#include "harness/core/records/machine.h"

namespace apo {

// The kernel in which two dispatches differ, and by how much it is faster, as their documents say, one a family, for
// that machine: certified, or judged against the other one directly. What that means for a step is not filled.
Expectation kernel_effect(const std::vector<std::string>& documents_a, const std::vector<std::string>& documents_b,
                          const Machine& machine);

// A run of A that was recorded: the time of its kernels, for a step.
struct RecordedSteps {
  std::string missing;       // why there is none; the rest is empty then
  std::int64_t profile = 0;  // in the journal
  ApplicationSummary summary;
  int steps = 0;  // all of the run
};

// Predicts by the declared kernels' share of a step of A, and compares with the measured speed. `step_s` is the length
// of a step where nothing is recorded.
Expectation expectation_of(Expectation kernel, const std::string& kernels, const RecordedSteps& recorded, double step_s,
                           const Figure* measured);

}  // namespace apo
