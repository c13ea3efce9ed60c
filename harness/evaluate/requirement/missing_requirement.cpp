// harness/evaluate/requirement/missing_requirement.cpp - the search for a condition, with a check of each size that it
// tries.
#include "harness/evaluate/requirement/missing_requirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/core/error.h"
#include "harness/evaluate/correctness/covering_shapes.h"
#include "harness/evaluate/requirement/requirement_search.h"
#include "kernels/random.h"

namespace apo {
namespace {

// One size after the other. Device code is called in one process, until it is wrong in it.
class Trials {
 public:
  Trials(const Runtime& runtime, const Configuration& configuration, const std::string& regime, std::uint64_t seed)
      : runtime_(runtime), configuration_(configuration), regimes_({runtime.family->regimes.front()}), seed_(seed) {
    if (regime != regimes_.front()) {
      regimes_.push_back(regime);
    }
  }

  bool is_right(const std::string& name, const Axes& axes) {
    if (runtime_.worker.stop.stop_requested()) {
      throw Cancelled();
    }
    try {
      return check({.workload = name, .axes = axes, .regimes = regimes_}, derive_seed(seed_, "trial", count_++)) ==
             Outcome::valid;
    } catch (const UserError&) {
      return false;  // the reference gives nothing to compare with on these sizes
    }
  }

 private:
  Outcome check(const CheckCase& one, std::uint64_t seed) {
    const Build build = runtime_.build(configuration_, one.axes, false);
    if (build.outcome != Outcome::valid) {
      return build.outcome;
    }
    if (runtime_.worker.target == Target::host) {
      return check_build(runtime_, configuration_, build, one, seed, runtime_.worker).outcome;
    }
    if (!worker_ || !worker_->alive()) {
      worker_.emplace(case_worker(runtime_.worker, seed));
    }
    GateSteps steps;
    const Outcome outcome =
        check_in(*worker_, runtime_, configuration_, build, one, case_inputs(runtime_, one, seed), seed, steps).outcome;
    if (outcome != Outcome::valid) {
      worker_.reset();
    }
    return outcome;
  }

  const Runtime& runtime_;
  const Configuration& configuration_;
  std::vector<std::string> regimes_;
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
  std::optional<Worker> worker_;
};

// The one that the plan names, else the family's first.
const Workload* production_workload(const Family& family, const std::vector<CheckCase>& plan) {
  const auto is_production = [](const Workload& workload) { return workload.kind == WorkloadKind::production; };
  for (const CheckCase& one : plan) {
    const Workload* workload = find_workload(family, one.workload);
    if (workload != nullptr && is_production(*workload)) {
      return workload;
    }
  }
  const auto first = std::ranges::find_if(family.workloads, is_production);
  return first == family.workloads.end() ? nullptr : &*first;
}

}  // namespace

std::string missing_requirement(const Runtime& runtime, const Configuration& configuration,
                                const std::vector<CheckCase>& plan, const CheckCase& failed, const std::string& regime,
                                std::uint64_t seed) {
  constexpr std::int64_t kPart = 8;           // of the elements of a long shape
  constexpr double kMostOperations = 0x1p22;  // 0.6 s of Monte-Carlo arithmetic
  const Family& family = *runtime.family;
  const Workload* production = production_workload(family, plan);
  const Workload* listed = find_workload(family, failed.workload);
  if (production == nullptr || family.legal.empty() ||
      (listed != nullptr && listed->kind == WorkloadKind::production)) {
    return "";
  }
  Trials trials(runtime, configuration, regime, derive_seed(seed, "requirement"));
  const bool executor = runtime.worker.executor;
  const std::optional<Requirement> found = find_requirement(
      {.family = family,
       .production = production->axes,
       .failing = failed.axes,
       .budget = {.elements = executor ? kMostElementsInExecutor : kMostElements / kPart,
                  .operations = kMostOperations},
       .most_elements = executor ? 2 * kMostElementsInExecutor : kMostElements,
       .takes = [&](const Axes& axes) { return runtime.unsupported(configuration, axes).empty(); },
       .is_right = [&](const Axes& axes) { return trials.is_right("trial of " + describe_axes(axes), axes); },
       .seed = derive_seed(seed, "requirement")});
  const bool planned = std::ranges::find(plan, production->name, &CheckCase::workload) != plan.end();
  if (!found || (planned && !trials.is_right(production->name, production->axes))) {
    return "";
  }
  return fmt::format(
      "; it is right where {} ({} sizes tried), and wrong on {} of {} others: write the line 'apo:requires {}'",
      found->condition, found->right, found->wrong_elsewhere, found->others, found->condition);
}

}  // namespace apo
