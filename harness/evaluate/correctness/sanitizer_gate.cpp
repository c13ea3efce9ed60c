// harness/evaluate/correctness/sanitizer_gate.cpp - chooses the case and the sanitizers of this target.
#include "harness/evaluate/correctness/sanitizer_gate.h"

#include <fmt/format.h>

#include "harness/core/guards.h"
#include "harness/evaluate/correctness/device_sanitizers.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Sanitizers make a call ten times as long and more. nullptr when no ragged case is supported.
const CheckCase* smallest_ragged(const Runtime& runtime, const Configuration& configuration,
                                 const std::vector<CheckCase>& plan) {
  const CheckCase* smallest = nullptr;
  for (const CheckCase& one : plan) {
    const Workload* listed = find_workload(*runtime.family, one.workload);
    const bool ragged = listed != nullptr && listed->kind == WorkloadKind::ragged;
    const bool smaller =
        smallest == nullptr || tensor_bytes(*runtime.family, one.axes) < tensor_bytes(*runtime.family, smallest->axes);
    if (ragged && smaller && runtime.unsupported(configuration, one.axes).empty()) {
      smallest = &one;
    }
  }
  return smallest;
}

std::string why_not_here(const Runtime& runtime) {
  if (!guard_is_on(Guard::sanitizers)) {
    return "the guard is switched off";
  }
  if (runtime.worker.target == Target::cuda) {
    return runtime.compute_sanitizer.empty()
               ? "compute-sanitizer is not installed (package cuda-sanitizer-13-0, part of CUDA Toolkit 13)"
               : "";
  }
  return runtime.sanitizer_runtime.empty() ? "the compiler has no AddressSanitizer library" : "";
}

}  // namespace

SanitizerCheck::SanitizerCheck(const Runtime& runtime, const Configuration& configuration,
                               const std::vector<CheckCase>& plan, std::uint64_t seed)
    : runtime_(runtime),
      configuration_(configuration),
      seed_(derive_seed(seed, "sanitize")),
      not_run_(why_not_here(runtime)) {
  case_ = not_run_.empty() ? smallest_ragged(runtime, configuration, plan) : nullptr;
  if (not_run_.empty() && case_ == nullptr) {
    not_run_ = "no ragged workload is supported";
  }
  if (not_run_.empty() && runtime.worker.target == Target::cuda) {
    started_ = std::make_unique<SanitizerTools>(runtime, seed_);
  }
}

SanitizerCheck::~SanitizerCheck() = default;

GateResult SanitizerCheck::run() {
  GateResult gate{.gate = "sanitizers"};
  if (!not_run_.empty()) {
    gate.evidence = "not run: " + not_run_;
    return gate;
  }
  if (started_ != nullptr) {
    return started_->run(configuration_, *case_);
  }
  const CheckResult result = check_case(runtime_, configuration_, *case_, seed_, true);
  gate.outcome = result.outcome;
  gate.seconds = result.seconds;
  gate.wrong = result.wrong;
  gate.evidence = result.outcome == Outcome::valid
                      ? fmt::format("ASan and UBSan silent over {} calls on {}", result.calls, case_->workload)
                      : result.evidence;
  return gate;
}

GateResult sanitizer_gate(const Runtime& runtime, const Configuration& configuration,
                          const std::vector<CheckCase>& plan, std::uint64_t seed) {
  return SanitizerCheck(runtime, configuration, plan, seed).run();
}

}  // namespace apo
