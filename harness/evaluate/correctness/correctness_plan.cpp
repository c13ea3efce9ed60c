// harness/evaluate/correctness/correctness_plan.cpp - chooses workloads, shapes of no workload, and regimes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/core/guards.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/covering_shapes.h"
#include "harness/evaluate/correctness/largest_launches.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Returns the case on which every regime is tried, of those that the candidate takes: the smallest that is no mere
// corner case, of the `listed` first ones where there is one, else the largest; nullptr without any.
CheckCase* case_of_every_regime(const Family& family, std::vector<CheckCase>& plan, std::size_t listed,
                                const Supported& supported) {
  CheckCase* chosen = nullptr;
  const auto elements = [&](const CheckCase* each) { return element_count(family, each->axes); };
  for (std::size_t i = 0; i < plan.size(); ++i) {
    CheckCase* const one = &plan[i];
    const bool is_enough = chosen != nullptr && elements(chosen) >= kElementsOfEveryRegime;
    if ((i >= listed && is_enough) || (supported && !supported(one->axes))) {
      continue;
    }
    const bool is_better = is_enough ? elements(one) >= kElementsOfEveryRegime && elements(one) < elements(chosen)
                                     : chosen == nullptr || elements(one) > elements(chosen);
    chosen = is_better ? one : chosen;
  }
  return chosen;
}

std::string name_of(const Family& family, const Axes& axes) {
  std::string name = "held out";
  for (const AxisSpec& axis : family.axes) {
    name += fmt::format(" {}={}", axis.name, axes.at(axis.name));
  }
  return name;
}

std::size_t regimes_in_use(const Family& family) {
  return guard_is_on(Guard::regimes) ? family.regimes.size() : 1;
}

// Returns how long an axis may get before the tensors have more than `most_elements` together, the check more than
// kMostOperationsPerElement for each of these, or the contract ends. An axis that no tensor has counts work, and stays.
std::int64_t longest(const Family& family, Axes axes, const AxisSpec& axis, std::int64_t most_elements) {
  std::int64_t& value = axes.at(axis.name);
  value = std::max<std::int64_t>(value, 1);  // an empty tensor's may be 0
  std::int64_t elements = element_count(family, axes);
  double operations = checked_operations(family, axes);
  // Counting takes as long as computing: after one doubling at least, the work is taken to grow as in the last one.
  const double enough = std::max(operations + 1, 0x1p20);
  double growth = 4;  // where doubled sizes are not legal
  while (value <= axis.max / 2) {
    value *= 2;
    const std::int64_t elements_before = std::exchange(elements, element_count(family, axes));
    if (elements > most_elements || elements == elements_before) {
      return value / 2;
    }
    const double counted = operations < enough ? checked_operations(family, axes) : 0;
    const double before = std::exchange(operations, counted > 0 ? counted : operations * growth);
    growth = before > 0 ? operations / before : growth;
    if (operations > static_cast<double>(kMostOperationsPerElement * most_elements)) {
      return value / 2;
    }
  }
  return value;
}

// Draws one of the shapes with one axis as long as fits, over 500 if possible, to catch errors behind step 300. One
// less than a multiple of 64, which no power of two up to 64 divides with less left over, or the next below that is
// taken.
std::optional<Axes> draw_long(const Family& family, const AxisSpec& axis, std::int64_t most_elements,
                              std::uint64_t seed, std::vector<Axes> bases, const Supported& takes) {
  constexpr std::int64_t kBlock = 64;
  Random random(seed);
  shuffle(bases, random);
  for (const std::int64_t least_blocks : {16, 4}) {
    for (const Axes& base : bases) {
      const std::int64_t blocks = longest(family, base, axis, most_elements) / kBlock;
      if (blocks < least_blocks) {
        continue;
      }
      const auto fewer = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(blocks) / 2));
      Axes axes = base;
      std::int64_t& value = axes.at(axis.name);
      value = (blocks - fewer) * kBlock - 1;
      for (const std::int64_t least = value / 2; value >= least; --value) {
        if (check_axes(family, axes).empty() && takes(axes)) {
          return axes;
        }
      }
    }
  }
  return std::nullopt;
}

// Returns at most three axes that no build knows and that can be long.
std::vector<AxisSpec> long_axes(const Family& family, std::uint64_t seed) {
  constexpr std::int64_t kLong = 256;
  constexpr std::size_t kMost = 3;
  std::vector<AxisSpec> axes = family.axes;
  std::erase_if(axes, [](const AxisSpec& axis) { return axis.specialised || axis.max < kLong; });
  Random random(seed);
  shuffle(axes, random);
  axes.resize(std::min(axes.size(), kMost));
  return axes;
}

// Returns false for a family that vouches for its own sizes only.
bool has_other_shapes(const Family& family) {
  return !family.legal.empty() && guard_is_on(Guard::shapes);
}

// Returns a case in the typical regime, one in three in a drawn one: in some regimes few mistakes show.
CheckCase held_out_case(const Family& family, const Axes& axes, Random& random) {
  constexpr std::uint64_t kOneIn = 3;
  const std::size_t regime = random.below(kOneIn) == 0 ? random.below(regimes_in_use(family)) : 0;
  return {.workload = name_of(family, axes), .axes = axes, .regimes = {family.regimes[regime]}};
}

// Shapes of no workload: those that cover all axes, `more` besides, and those that are long.
std::vector<CheckCase> held_out_cases(const Family& family, std::uint64_t seed, const Supported& supported,
                                      std::int64_t most_elements, std::size_t more) {
  constexpr std::size_t kMostCovering = 12;
  constexpr std::int64_t kPart = 8;           // of the elements of a long one
  constexpr double kMostOperations = 0x1p19;  // of one shape: 0.1 s of Monte-Carlo arithmetic
  std::vector<CheckCase> cases;
  if (!has_other_shapes(family) || most_elements == 0) {
    return cases;
  }
  Random random(derive_seed(seed, "held out"));
  const auto takes = [&](const Axes& axes) { return !supported || supported(axes); };
  const std::vector<Axes> bases = base_shapes(family, takes, most_elements);
  const auto least = std::ranges::find_if(bases, takes);
  const std::int64_t elements = least == bases.end() ? 0 : std::min(most_elements, 2 * element_count(family, *least));
  for (const Axes& axes :
       covering_shapes(family, {.elements = std::max(elements, most_elements / kPart), .operations = kMostOperations},
                       kMostCovering, takes, derive_seed(seed, "covering"), more)) {
    cases.push_back(held_out_case(family, axes, random));
  }
  for (const AxisSpec& axis : long_axes(family, derive_seed(seed, "long"))) {
    if (const auto axes =
            draw_long(family, axis, most_elements, derive_seed(seed, "long " + axis.name), bases, takes)) {
      cases.push_back(held_out_case(family, *axes, random));
    }
  }
  return cases;
}

// What is extreme and costs no more than a long shape.
std::vector<CheckCase> extreme_cases(const Family& family, std::uint64_t seed, std::int64_t most_elements) {
  std::vector<CheckCase> cases;
  Random random(derive_seed(seed, "extreme"));
  for (const Workload& workload : family.workloads) {
    if (workload.kind == WorkloadKind::extreme && element_count(family, workload.axes) <= most_elements &&
        checked_operations(family, workload.axes) <= static_cast<double>(kMostOperationsPerElement * most_elements)) {
      cases.push_back({.workload = workload.name,
                       .axes = workload.axes,
                       .regimes = {family.regimes[random.below(regimes_in_use(family))]}});
    }
  }
  return cases;
}

// Returns a campaign's workload with the typical and one more regime.
CheckCase case_of(const Family& family, const std::string& workload, std::uint64_t seed, std::uint64_t shared_seed) {
  const Axes& axes = find_workload(family, workload)->axes;
  const std::size_t regimes = regimes_in_use(family);
  const std::uint64_t own = shared_seed != 0 && shares_inputs(family, axes) ? shared_seed : 0;
  std::vector<std::string> chosen = {family.regimes.front()};
  if (regimes > 1) {
    chosen.push_back(family.regimes[1 + derive_seed(own != 0 ? own : seed, workload) % (regimes - 1)]);
  }
  return {.workload = workload, .axes = axes, .regimes = chosen, .seed = own};
}

Supported supports(const Runtime& runtime, const Configuration& configuration) {
  return [&](const Axes& axes) { return runtime.unsupported(configuration, axes).empty(); };
}

}  // namespace

std::vector<CheckCase> correctness_plan(const Family& family, const std::vector<std::string>& campaign_workloads,
                                        std::uint64_t seed, std::uint64_t shared_seed, const Supported& supported,
                                        std::int64_t most_elements) {
  std::vector<CheckCase> plan;
  const std::size_t regimes = regimes_in_use(family);
  const std::vector<std::string> all(family.regimes.begin(),
                                     family.regimes.begin() + static_cast<std::ptrdiff_t>(regimes));
  std::size_t turn = derive_seed(seed, "regimes") % regimes;
  const auto pair = [&](std::size_t first) {
    std::vector<std::string> two = {family.regimes[first % regimes]};
    if (regimes > 1) {
      two.push_back(family.regimes[(first + 1) % regimes]);
    }
    return two;
  };
  std::size_t not_taken = 0;
  for (const Workload& workload : family.workloads) {
    const bool wanted = guard_is_on(Guard::shapes) || campaign_workloads.empty();
    if (wanted && is_small(workload)) {
      plan.push_back({.workload = workload.name, .axes = workload.axes, .regimes = pair(turn)});
      turn += 2;
      if (supported && !supported(workload.axes)) {
        ++not_taken;
      }
    }
  }
  const std::size_t listed = plan.size();
  std::ranges::move(held_out_cases(family, seed, supported, most_elements, not_taken), std::back_inserter(plan));
  if (CheckCase* fullest = case_of_every_regime(family, plan, listed, supported)) {
    fullest->regimes = all;
  }
  if (guard_is_on(Guard::shapes)) {
    std::ranges::move(extreme_cases(family, seed, most_elements), std::back_inserter(plan));
  }
  for (const std::string& name : campaign_workloads) {
    plan.push_back(case_of(family, name, seed, shared_seed));
  }
  return plan;
}

std::vector<CheckCase> every_regime_plan(const Family& family, const std::vector<std::string>& campaign_workloads) {
  std::vector<CheckCase> plan;
  for (const std::string& name : campaign_workloads) {
    const Axes& axes = find_workload(family, name)->axes;
    const std::size_t regimes = element_count(family, axes) <= kMostElementsOfEveryRegime ? regimes_in_use(family) : 0;
    for (std::size_t i = 0; i < regimes; ++i) {
      plan.push_back({.workload = name, .axes = axes, .regimes = {family.regimes[i]}, .purpose = Purpose::look});
    }
  }
  return plan;
}

std::vector<CheckCase> correctness_plan(const Runtime& runtime, const Configuration& configuration,
                                        const std::vector<std::string>& campaign_workloads, std::uint64_t seed,
                                        std::uint64_t shared_seed) {
  const Family& family = *runtime.family;
  std::vector<CheckCase> plan =
      correctness_plan(family, campaign_workloads, seed, shared_seed, supports(runtime, configuration),
                       runtime.worker.executor ? kMostElementsInExecutor : kMostElements);
  if (has_other_shapes(family)) {
    for (const ClippedGrid& grid : clipped_grids(runtime, configuration, kMostElements, seed)) {
      if (grid.shape) {
        plan.push_back(
            {.workload = name_of(family, *grid.shape), .axes = *grid.shape, .regimes = {family.regimes.front()}});
      }
    }
  }
  return plan;
}

}  // namespace apo
