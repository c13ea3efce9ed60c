// harness/loop/workspace/incumbents.cpp - compares the answers of a class's workloads, and takes the nearest.
#include "harness/loop/workspace/incumbents.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/text.h"
#include "harness/loop/workspace/nearest_workload.h"

namespace apo {
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

std::vector<WorkloadIncumbent> differing_incumbents(Journal& journal, const Family& family, const Incumbent& of_class) {
  std::vector<WorkloadIncumbent> all =
      journal.workload_incumbents(of_class.family, of_class.workload_class, of_class.machine);
  std::erase_if(all, [&](const WorkloadIncumbent& one) { return find_workload(family, one.workload) == nullptr; });
  const bool agree =
      std::ranges::all_of(all, [&](const WorkloadIncumbent& one) { return is_same(one.incumbent, of_class); });
  return agree ? std::vector<WorkloadIncumbent>() : all;
}

std::optional<NearestIncumbent> nearest_incumbent(Journal& journal, const Family& family,
                                                  const std::string& workload_class, const std::string& machine,
                                                  const std::vector<std::string>& workloads) {
  const std::optional<Incumbent> of_class = journal.incumbent(family.name, workload_class, machine);
  if (!of_class) {
    return std::nullopt;
  }
  const std::vector<WorkloadIncumbent> differing = differing_incumbents(journal, family, *of_class);
  if (differing.empty()) {
    return NearestIncumbent{*of_class, ""};
  }
  const WorkloadIncumbent& nearest = *std::ranges::min_element(
      differing, {}, [&](const WorkloadIncumbent& one) { return total_distance(family, one.workload, workloads); });
  return NearestIncumbent{nearest.incumbent, reason(nearest, differing)};
}

}  // namespace apo
