// harness/loop/workspace/incumbents.cpp - compares the answers of a class's workloads, and takes the nearest.
#include "harness/loop/workspace/incumbents.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/chosen_workload.h"

namespace apo {
namespace {

Configuration root_configuration(const Workspace& workspace, const std::string& family) {
  if (auto baseline = family_baseline(workspace, family)) {
    return *baseline;
  }
  throw UserError(
      fmt::format("family {} has no variant for target {} to start from", family, to_string(workspace.target())),
      fmt::format("'apo try {} FILE' makes the first file that passes its baseline; or name one with --baseline",
                  family));
}

}  // namespace

std::optional<Configuration> family_baseline(const Workspace& workspace, const std::string& family) {
  const Variant* variant = workspace.catalogue().baseline(family, workspace.target());
  return variant == nullptr ? std::nullopt : std::optional(Configuration{variant->id(), default_settings(*variant)});
}

std::optional<Configuration> named_baseline(const Workspace& workspace, const Policy& policy) {
  if (policy.baseline.empty()) {
    return std::nullopt;
  }
  Configuration given = workspace.catalogue().configuration(policy.baseline);
  if (!given.variant.starts_with(policy.family + "/")) {
    throw UserError("the baseline '" + policy.baseline + "' is not a variant of family " + policy.family);
  }
  return given;
}

Configuration starting_point(const Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer) {
  if (auto named = named_baseline(workspace, policy)) {
    return *named;
  }
  if (const auto of_class = find_incumbent(journal, policy.family, policy.workload_class, workspace.machine().id)) {
    const Family& family = workspace.family(policy.family);
    const auto [incumbent, because] =
        nearest_incumbent(family, class_incumbents(journal, family, *of_class), policy.workloads);
    const Variant* variant = workspace.catalogue().find(incumbent.configuration.variant);
    if (variant != nullptr && variant->source_hash == incumbent.source_hash) {
      if (!because.empty()) {
        observer.say(incumbent.configuration.label() + " is " + because);
      }
      return incumbent.configuration;
    }
    observer.say(
        fmt::format("the incumbent {} changed or is gone since it was accepted; starting from the family's root",
                    incumbent.configuration.label()));
  }
  return root_configuration(workspace, policy.family);
}

namespace {

bool is_same(const Incumbent& a, const Incumbent& b) {
  return a.configuration == b.configuration && a.source_hash == b.source_hash;
}

double total_distance(const Family& family, const std::string& measured, const std::vector<std::string>& wanted) {
  double total = 0;
  for (const std::string& name : wanted) {
    if (const Workload* workload = find_workload(family, name)) {
      total += distance(family, find_workload(family, measured)->axes, workload->axes);
    }
  }
  return total;
}

std::string reason(const WorkloadIncumbent& nearest, const std::vector<WorkloadIncumbent>& all) {
  std::vector<std::string> others;
  for (const WorkloadIncumbent& one : all) {
    if (!is_same(one.incumbent, nearest.incumbent)) {
      others.push_back(fmt::format("at {} it is {}", one.workload, one.incumbent.configuration.label()));
    }
  }
  return "the incumbent of " + nearest.workload + (others.empty() ? "" : "; " + join(others, ", "));
}

}  // namespace

ClassIncumbents class_incumbents(Journal& journal, const Family& family, const Incumbent& of_class) {
  std::vector<WorkloadIncumbent> all =
      workload_incumbents(journal, of_class.family, of_class.workload_class, of_class.machine);
  std::erase_if(all, [&](const WorkloadIncumbent& one) { return find_workload(family, one.workload) == nullptr; });
  if (std::ranges::all_of(all, [&](const WorkloadIncumbent& one) { return is_same(one.incumbent, of_class); })) {
    all.clear();
  }
  return {of_class, std::move(all)};
}

NearestIncumbent nearest_incumbent(const Family& family, const ClassIncumbents& all,
                                   const std::vector<std::string>& workloads) {
  if (all.differing.empty()) {
    return {all.of_class, ""};
  }
  const WorkloadIncumbent& nearest = *std::ranges::min_element(
      all.differing, {}, [&](const WorkloadIncumbent& one) { return total_distance(family, one.workload, workloads); });
  return {nearest.incumbent, reason(nearest, all.differing)};
}

}  // namespace apo
