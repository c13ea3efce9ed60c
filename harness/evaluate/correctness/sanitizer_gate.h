// harness/evaluate/correctness/sanitizer_gate.h - the gate "sanitizers": runs the smallest ragged case under them.
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

// On target host the case is built with ASan and UBSan, and for a variant that starts threads three cases are built
// with ThreadSanitizer: this one, and the largest ragged one and the largest one whose calls take seconds. On target
// cuda it runs under compute-sanitizer, whose processes take a second to start and therefore begin with the
// constructor, beside the earlier gates. They hold nothing of the candidate until run(). All arguments have to outlive
// this.
class SanitizerCheck {
 public:
  SanitizerCheck(const Runtime& runtime, const Configuration& configuration, const std::vector<CheckCase>& plan,
                 std::uint64_t seed);
  ~SanitizerCheck();
  SanitizerCheck(const SanitizerCheck&) = delete;
  SanitizerCheck& operator=(const SanitizerCheck&) = delete;

  // The evidence says when there is no sanitizer here. Throws EnvironmentError when a sanitizer does not work.
  GateResult run();

 private:
  void watch_threads(GateResult& gate) const;

  const Runtime& runtime_;
  const Configuration& configuration_;
  std::uint64_t seed_;
  std::string not_run_;              // why; empty when it runs
  const CheckCase* case_ = nullptr;  // of the plan
  std::vector<CheckCase> threads_;   // those under ThreadSanitizer
  std::unique_ptr<SanitizerTools> started_;
};

// Constructs and runs the gate in one step.
GateResult sanitizer_gate(const Runtime& runtime, const Configuration& configuration,
                          const std::vector<CheckCase>& plan, std::uint64_t seed);

}  // namespace apo
