// harness/evaluate/correctness/inspect_call.cpp - guards, inputs, the drawn units, then all elements.
#include "harness/evaluate/correctness/inspect_call.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/system/machine.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/evaluate/correctness/every_element.h"
#include "harness/evaluate/correctness/wrong_element.h"

namespace apo {
namespace {

// Of a call's outputs, or of the witness's.
std::optional<Failure> wrong_outputs(const Family& family, const InputSet& inputs, const Expected& expected,
                                     const OutputViews& outputs, int threads, CallFindings& findings,
                                     Units units = Units::drawn) {
  Comparison comparison = compare_outputs(family, inputs.axes, expected, outputs, threads, units);
  std::optional<WrongElement> wrong;
  if (units == Units::drawn) {
    findings.draws = std::move(comparison.draws);
  }
  for (const TensorComparison& tensor : comparison.tensors) {
    merge(findings.errors, tensor.errors);
    findings.elements += tensor.compared;
    wrong = wrong ? wrong : tensor.wrong;
  }
  if (!comparison.correct && guard_is_on(Guard::reference)) {
    if (wrong) {
      wrong->regime = inputs.regime;
      add_inputs(*wrong, family, inputs);
      wrong->seed = 0;  // the caller knows whether it is secret
    }
    return Failure{.outcome = Outcome::incorrect, .evidence = comparison.evidence, .wrong = std::move(wrong)};
  }
  return std::nullopt;
}

std::int64_t output_elements(const Family& family, const Axes& axes) {
  std::int64_t elements = 0;
  for (const TensorSpec& tensor : family.tensors) {
    elements += tensor.role == Role::output ? element_count(tensor, axes) : 0;
  }
  return elements;
}

// The furthest apart, ascending: 2^20 elements, but 32 units at least and 512 at most.
std::vector<std::int64_t> units_to_decide(const Family& family, const CheckedInputs& inputs,
                                          const std::vector<DoubtfulUnit>& doubtful) {
  constexpr double kClear = 30;  // times a unit's bounds: right implementations of E88 are at 7 where T is 16384
  if (inputs.purpose == Purpose::scan) {
    const bool clear = !doubtful.empty() && doubtful.front().doubt >= kClear;
    return clear ? std::vector{doubtful.front().unit} : std::vector<std::int64_t>();
  }
  const Axes& axes = inputs.inputs.axes;
  constexpr std::int64_t kElements = std::int64_t{1} << 20;
  constexpr std::int64_t kFewest = 32;
  constexpr std::int64_t kMost = 512;
  const std::int64_t of_unit = std::max<std::int64_t>(1, element_count(family, axes) / family.unit_count(axes));
  const std::int64_t most = std::clamp(kElements / of_unit, kFewest, kMost);
  std::vector<std::int64_t> units;
  for (std::int64_t i = 0; i < std::min(std::ssize(doubtful), most); ++i) {
    units.push_back(doubtful[static_cast<std::size_t>(i)].unit);
  }
  std::ranges::sort(units);
  return units;
}

}  // namespace

std::optional<Failure> inspect_call(const SharedTensors& shared_tensors, const Family& family,
                                    const CheckedInputs& inputs, const std::string& whose, std::optional<int> set,
                                    int threads, CallFindings* findings) {
  if (const auto damage = guard_is_on(Guard::guard_zones) ? shared_tensors.check_guards() : std::nullopt) {
    return Failure{.outcome = Outcome::incorrect, .evidence = damage->sentence()};
  }
  if (const auto change = set && guard_is_on(Guard::inputs) ? shared_tensors.check_inputs(set) : std::nullopt) {
    return Failure{.outcome = Outcome::incorrect, .evidence = change->sentence()};
  }
  CallFindings own;
  CallFindings& found = findings != nullptr ? *findings : own;
  const Expected& expected = inputs.expected();
  if (auto wrong =
          wrong_outputs(family, inputs.inputs, expected, view_outputs(shared_tensors, family), threads, found)) {
    return wrong;
  }
  return expected.units.empty() ? std::nullopt
                                : hold_all(shared_tensors, family, inputs, whose, inputs.typical(), threads, found);
}

void explain(Failure& failure, const std::string& workload, std::uint64_t seed) {
  if (failure.wrong) {
    failure.wrong->workload = workload;
    failure.wrong->seed = seed;
    failure.evidence += "; " + sentence(*failure.wrong);
  }
}

std::optional<int> wrong_slot(const CallFindings& findings, int slot, const std::string& other_slots) {
  if (findings.wrong_call_of.empty()) {
    return slot;
  }
  return findings.wrong_call_of == other_slots ? std::optional(1 - slot) : std::nullopt;
}

std::optional<Failure> hold_all(const SharedTensors& shared_tensors, const Family& family, const CheckedInputs& inputs,
                                const std::string& whose, const TypicalErrors& typical, int threads,
                                CallFindings& findings) {
  constexpr std::int64_t kPartOfMemory = 16;  // that the tensors of a call may have, for its outputs to be kept
  const Axes& axes = inputs.inputs.axes;
  const std::shared_ptr<Witness> witness = inputs.witness();
  const OutputViews outputs = view_outputs(shared_tensors, family);
  std::vector<DoubtfulUnit> doubtful;
  if (witness != nullptr || guard_is_on(Guard::poison)) {
    doubtful =
        doubtful_units(family, axes, typical, outputs, witness != nullptr ? &witness->outputs : nullptr, threads);
  }
  const std::vector<std::int64_t> units = units_to_decide(family, inputs, doubtful);
  if (!units.empty() && guard_is_on(Guard::reference)) {
    const std::shared_ptr<const Expected> decided = inputs.expected_of(units);
    if (auto wrong = wrong_outputs(family, inputs.inputs, *decided, outputs, threads, findings, Units::in_doubt)) {
      return wrong;
    }
    CallFindings of_witness;
    const bool was_called = witness != nullptr && witness->of != kWholeReference;
    if (auto wrong = was_called ? wrong_outputs(family, inputs.inputs, *decided, witness->outputs, threads, of_witness,
                                                Units::in_doubt)
                                : std::nullopt) {
      inputs.set_witness(nullptr);
      findings.wrong_call_of = witness->of;
      return wrong;
    }
    findings.undecided += decided->left_out;
  }
  findings.undecided += std::ssize(doubtful) - std::ssize(units);
  if (witness == nullptr) {
    if (tensor_bytes(family, axes) <= physical_memory_bytes() / kPartOfMemory) {
      inputs.set_witness(std::make_shared<Witness>(whose, read_outputs(shared_tensors, family)));
    }
    return std::nullopt;
  }
  findings.elements = output_elements(family, axes);
  if (witness->of != whose) {
    witness->confirmed = true;
  }
  return std::nullopt;
}

}  // namespace apo
