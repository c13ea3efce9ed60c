// harness/evaluate/correctness/device_sanitizers.h - runs a checked case under the tools of compute-sanitizer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/evaluate/correctness/check_case.h"

namespace apo {

// Gate "sanitizers" on target cuda: every tool of runtime.device_sanitizers watches a worker of its own that makes the
// calls of a case, all at the same time. The workers begin to start at once; the thread that makes this, and the
// runtime, have to outlive it.
class SanitizerTools {
 public:
  SanitizerTools(const Runtime& runtime, std::uint64_t seed);
  ~SanitizerTools();
  SanitizerTools(const SanitizerTools&) = delete;
  SanitizerTools& operator=(const SanitizerTools&) = delete;

  // Once. A finding makes the candidate incorrect. Throws EnvironmentError when a tool wrote no whole report, so that a
  // tool that does not work is never taken for one that found nothing.
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
