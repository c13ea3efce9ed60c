// harness/evaluate/correctness/correctness.cpp - has the cases of a plan checked, and says what was found.
#include "harness/evaluate/correctness/correctness.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/guards.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/case_checks.h"
#include "harness/evaluate/correctness/compare.h"
#include "harness/evaluate/correctness/largest_launches.h"
#include "harness/evaluate/requirement/missing_requirement.h"

namespace apo {
namespace {

// A workload may be planned twice.
void add_errors(GateResult& gate, const OutputErrors& errors) {
  const auto known = std::ranges::find(gate.errors, errors.workload, &OutputErrors::workload);
  if (known != gate.errors.end()) {
    merge(*known, errors);
  } else if (!errors.workload.empty()) {
    gate.errors.push_back(errors);
  }
}

void add_sizes(CheckedSizes& checked, const Family& family, const Axes& axes) {
  const std::int64_t elements = element_count(family, axes);
  if (checked.largest.empty() || elements > checked.elements) {  // a tensor may be empty
    checked.elements = elements;
    checked.largest = axes;
  }
  for (const auto& [axis, value] : axes) {
    std::int64_t& most = checked.up_to.try_emplace(axis, value).first->second;
    most = std::max(most, value);
  }
}

// Whether the contract has sizes with more than 2^31 elements, along one axis or another.
bool reaches_32_bits(const Family& family, const CheckedSizes& checked) {
  return std::ranges::any_of(family.axes, [&](const AxisSpec& axis) {
    Axes axes = checked.largest;
    const double grown =
        static_cast<double>(axis.max) / static_cast<double>(std::max<std::int64_t>(1, axes.at(axis.name)));
    Axes twice = axes;
    twice.at(axis.name) *= 2;
    const bool grows = element_count(family, twice) > element_count(family, axes);
    return grows && grown * static_cast<double>(checked.elements) > 0x1p31;
  });
}

// How large the shapes were, and what was left out.
std::string sizes_text(const Runtime& runtime, const Configuration& configuration, const CheckedSizes& checked) {
  std::string text = fmt::format("; the largest shape {} with {} elements, axes up to {}",
                                 describe_axes(checked.largest), checked.elements, describe_axes(checked.up_to));
  for (const ClippedGrid& grid : clipped_grids(runtime, configuration, 0, 0)) {
    if (checked.up_to.at(grid.axis) <= grid.value) {
      text += fmt::format("; not checked: {} beyond {}, from where on the grid is the same", grid.axis, grid.value);
    }
  }
  if (static_cast<double>(checked.elements) <= 0x1p31 && reaches_32_bits(*runtime.family, checked)) {
    text += "; not checked: more than 2^31 elements";
  }
  std::vector<std::string> beyond;
  for (const Workload& workload : runtime.family->workloads) {
    if (std::ranges::any_of(workload.axes,
                            [&](const auto& axis) { return axis.second > checked.up_to.at(axis.first); })) {
      beyond.push_back(workload.name);
    }
  }
  return beyond.empty() ? text : text + "; not checked: the sizes of " + join(beyond, ", ");
}

// Whether code that ends so on one shape may be right on others. A hang costs its deadline on each.
bool is_of_some_sizes(Outcome outcome) {
  return outcome == Outcome::incorrect || outcome == Outcome::faulted || outcome == Outcome::refused;
}

}  // namespace

GateResult correctness_gate(const Runtime& runtime, const Configuration& configuration,
                            const std::vector<CheckCase>& plan, std::uint64_t seed, const CheckProgress& progress) {
  GateResult gate{.gate = "correctness"};
  GateSteps steps;
  if (guard_is_on(Guard::shapes)) {
    if (const auto failure = check_largest_launches(runtime, configuration)) {
      gate.outcome = failure->outcome;
      gate.evidence = failure->evidence;
      gate.seconds = steps.seconds();
      return gate;
    }
  }
  const std::vector<std::optional<CheckResult>> results =
      run_cases(runtime, configuration, plan, seed, progress, steps);
  gate.seconds = steps.seconds();
  gate.steps = steps.list();
  int cases = 0;
  int calls = 0;
  int left_out = 0;
  std::int64_t elements = 0;
  std::int64_t undecided = 0;
  std::int64_t not_computed = 0;
  std::string confinement;
  std::set<std::string> idle;  // regimes
  DrawsBySeed draws;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::optional<CheckResult>& result = results[i];
    if (!result) {
      ++left_out;
      continue;
    }
    add_errors(gate, result->errors);
    if (result->outcome != Outcome::valid) {
      gate.outcome = result->outcome;
      gate.evidence = result->evidence;
      gate.wrong = result->wrong;
      gate.wrong_case = result->wrong_case;
      if (guard_is_on(Guard::shapes) && is_of_some_sizes(result->outcome)) {
        if (progress) {
          progress(static_cast<int>(i), static_cast<int>(plan.size()), "other sizes, for the line that it lacks");
        }
        const std::string regime = result->wrong_case ? result->wrong_case->regime : plan[i].regimes.front();
        gate.evidence += missing_requirement(runtime, configuration, plan, plan[i], regime, seed);
        gate.seconds = steps.seconds();
      }
      return gate;
    }
    add_sizes(gate.checked, *runtime.family, plan[i].axes);
    ++cases;
    calls += result->calls;
    elements += result->elements;
    undecided += result->undecided;
    not_computed += result->not_computed;
    draws.add(result->draws);
    confinement = result->confinement;
    idle.insert(result->left_out.begin(), result->left_out.end());
  }
  if (cases == 0) {
    gate.ran = false;
    gate.evidence = plan.empty()
                        ? "no workload to check it on"
                        : fmt::format("none of {} workloads is supported; {}: {}", plan.size(), plan.front().workload,
                                      runtime.unsupported(configuration, plan.front().axes));
    return gate;
  }
  const DrawSums drawn = draws.sum();
  if (const std::string problem = guard_is_on(Guard::reference) ? drawn.problem() : ""; !problem.empty()) {
    gate.outcome = Outcome::incorrect;
    gate.evidence = fmt::format("{} calls on {} workloads: {}", calls, cases, problem);
    return gate;
  }
  gate.evidence = fmt::format("{} calls on {} workloads right, {} elements", calls, cases, elements);
  gate.evidence += drawn.draws == 0 ? "" : fmt::format(", {} draws as likely as they have to be", drawn.draws);
  gate.evidence += sizes_text(runtime, configuration, gate.checked);
  if (undecided > 0) {
    gate.evidence += fmt::format("; not decided: {} more units that differ from another call's", undecided);
  }
  if (not_computed > 0) {
    gate.evidence += fmt::format("; not computed: {} drawn units, as the reference is slow", not_computed);
  }
  if (left_out > 0) {
    gate.evidence += fmt::format("; {} workloads not supported", left_out);
  }
  if (!idle.empty()) {
    gate.evidence += fmt::format("; left out where the reference is not finite: {}", fmt::join(idle, ", "));
  }
  if (!runtime.family->declared_tolerance.empty()) {
    gate.evidence += "; tolerance of the family's author: " + runtime.family->declared_tolerance;
  }
  // The trust level belongs to the verdict: host code runs with the rights that its process was left.
  gate.evidence += confinement.empty() ? "" : "; candidate held by: " + confinement;
  return gate;
}

}  // namespace apo
