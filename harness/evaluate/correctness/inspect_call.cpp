// harness/evaluate/correctness/inspect_call.cpp - inspects guard zones first, then inputs, then outputs.
#include "harness/evaluate/correctness/inspect_call.h"

#include "harness/core/guards.h"
#include "harness/evaluate/correctness/compare.h"

namespace apo {

std::optional<Failure> inspect_call(const SharedTensors& shared_tensors, const Family& family, const Axes& axes,
                                    const Expected& expected, std::optional<int> set, int threads,
                                    CallFindings* findings) {
  if (const auto damage = guard_is_on(Guard::guard_zones) ? shared_tensors.check_guards() : std::nullopt) {
    return Failure{.outcome = Outcome::incorrect, .evidence = damage->sentence()};
  }
  if (const auto change = set && guard_is_on(Guard::inputs) ? shared_tensors.check_inputs(set) : std::nullopt) {
    return Failure{.outcome = Outcome::incorrect, .evidence = change->sentence()};
  }
  const Comparison comparison = compare_outputs(family, axes, expected, view_outputs(shared_tensors, family), threads);
  for (const TensorComparison& tensor : comparison.tensors) {
    if (findings != nullptr) {
      merge(findings->errors, tensor.errors);
      findings->wrong = findings->wrong ? findings->wrong : tensor.wrong;
    }
  }
  if (!comparison.correct && guard_is_on(Guard::reference)) {
    return Failure{.outcome = Outcome::incorrect, .evidence = comparison.evidence};
  }
  return std::nullopt;
}

}  // namespace apo
