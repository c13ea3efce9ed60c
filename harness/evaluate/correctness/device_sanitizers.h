// harness/evaluate/correctness/device_sanitizers.h - runs a checked case under the tools of compute-sanitizer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/evaluate/correctness/check_case.h"

namespace apo {

// Runs the gate "sanitizers" on target cuda: every tool of runtime.device_sanitizers watches a worker of its own that
// makes the calls of a case, all at the same time. The workers begin to start at once; the constructing thread and the
// runtime have to outlive them.
class SanitizerTools {
 public:
  SanitizerTools(const Runtime& runtime, std::uint64_t seed);
  ~SanitizerTools();
  SanitizerTools(const SanitizerTools&) = delete;
  SanitizerTools& operator=(const SanitizerTools&) = delete;

  // Call it once. A finding makes the candidate incorrect. Throws EnvironmentError when a tool wrote no complete
  // report, so that a broken tool never counts as one without findings.
  GateResult run(const Configuration& configuration, const CheckCase& one);

 private:
  struct Tool;
  struct ToolRun;

  ToolRun watch(Tool& tool, const Configuration& configuration, const Build& build, const CheckCase& one,
                const std::vector<CheckedPointer>& inputs, GateSteps& steps);
  void judge(const std::vector<ToolRun>& runs, GateResult& gate) const;
  void require_report(const ToolRun& run) const;

  const Runtime& runtime_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Tool>> tools_;
};

}  // namespace apo
