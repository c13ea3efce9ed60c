// harness/loop/applications/expectation.h - what the kernel's effect lets expect of an application, by Amdahl's law.
#pragma once

#include <optional>
#include <string>

#include "harness/core/applications/application_comparison.h"
#include "journal/journal.h"

namespace apo {

// The kernel in which two dispatches differ, and by how much it is faster, as the texts of their dispatch.json say for
// that machine: certified, or judged against the other one directly. Logs of ratios.
struct KernelEffect {
  std::string missing;  // why it is not known; the rest is empty then
  std::string kernel;
  double effect = 0;
  double lower = 0;
  double upper = 0;
};
KernelEffect kernel_effect(const std::string& dispatch_a, const std::string& dispatch_b, const std::string& machine);

// With the share of the declared kernels in the newest application profile, held against the speed that was measured.
ApplicationExpectation expectation_of(const KernelEffect& kernel, const std::string& kernels,
                                      const std::optional<ApplicationRow>& profile, const SpeedEffect* measured);

}  // namespace apo
