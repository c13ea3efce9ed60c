// harness/evaluate/correctness/sanitizer_gate.h - the gate "sanitizers": runs the smallest ragged case under them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/evaluate/correctness/check_case.h"

namespace apo {

class SanitizerTools;

// On target host the case is built with ASan and UBSan; on target cuda it runs under compute-sanitizer, whose processes
// begin to start when this is made: they need a second for it, beside the gates before. Nothing of the candidate is in
// them until run(). All arguments have to outlive this.
class SanitizerCheck {
 public:
  SanitizerCheck(const Runtime& runtime, const Configuration& configuration, const std::vector<CheckCase>& plan,
                 std::uint64_t seed);
  ~SanitizerCheck();
  SanitizerCheck(const SanitizerCheck&) = delete;
  SanitizerCheck& operator=(const SanitizerCheck&) = delete;

  // Its evidence says so when there is no sanitizer here. Throws EnvironmentError when there is one that does not work.
  GateResult run();

 private:
  const Runtime& runtime_;
  const Configuration& configuration_;
  std::uint64_t seed_;
  std::string not_run_;              // why; empty when it runs
  const CheckCase* case_ = nullptr;  // of the plan
  std::unique_ptr<SanitizerTools> started_;
};

// The same at once.
GateResult sanitizer_gate(const Runtime& runtime, const Configuration& configuration,
                          const std::vector<CheckCase>& plan, std::uint64_t seed);

}  // namespace apo
