// harness/loop/workspace/chosen_workload.cpp - asks the journal, then the family.
#include "harness/loop/workspace/chosen_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "harness/core/error.h"
#include "journal/journal.h"

namespace apo {
namespace {

std::optional<JudgedWorkload> newest_judgement(Journal& journal, const std::vector<Configuration>& configurations,
                                               const std::string& machine) {
  const std::string& first = configurations.front().variant;
  const std::string& last = configurations.back().variant;
  if (first != last) {
    if (auto judged = journal.newest_judged_workload(first, last, machine)) {
      return judged;
    }
  }
  std::optional<JudgedWorkload> newest;
  for (const Configuration& one : configurations) {
    const auto judged = journal.newest_judged_workload(one.variant, "", machine);
    newest = judged && (!newest || judged->experiment > newest->experiment) ? judged : newest;
  }
  return newest;
}

}  // namespace

const Workload& first_workload(const Family& family, Target target) {
  const auto fitting = std::find_if(family.workloads.begin(), family.workloads.end(),
                                    [&](const Workload& one) { return one.target == target; });
  return fitting == family.workloads.end() ? family.workloads.front() : *fitting;
}

const Workload& first_supported(const Family& family, const Runtime& runtime, const Configuration& configuration) {
  std::string why;
  for (const Workload& workload : family.workloads) {
    const std::string reason = runtime.unsupported(configuration, workload.axes);
    if (reason.empty()) {
      return workload;
    }
    why = why.empty() ? workload.name + ": " + reason : why;
  }
  throw UserError(configuration.variant + " supports no workload of family " + family.name + "; " + why,
                  "relax its apo:requires line; 'apo list " + family.name + "' shows the workloads");
}

void check_supported(const Runtime& runtime, const Configuration& configuration, const Workload& workload) {
  if (const std::string why = runtime.unsupported(configuration, workload.axes); !why.empty()) {
    throw UserError(configuration.label() + " does not support " + workload.name + ": " + why,
                    "choose another one with --workload; 'apo list " + runtime.family->name + "' shows them");
  }
}

const Workload& profiled_workload(Workspace& workspace, const Family& family,
                                  const std::vector<Configuration>& configurations, const std::string& name,
                                  Observer& observer) {
  if (!name.empty()) {
    return workspace.workload(family, name);
  }
  const Runtime runtime = workspace.runtime(family);
  const auto supported = [&](const Workload& one) {
    return std::all_of(configurations.begin(), configurations.end(),
                       [&](const Configuration& each) { return runtime.unsupported(each, one.axes).empty(); });
  };
  if (const auto& path = workspace.paths().journal; std::filesystem::exists(path)) {
    Journal journal = Journal::open(path, Access::read_only);
    const auto judged = newest_judgement(journal, configurations, workspace.machine().id);
    const Workload* workload = judged ? find_workload(family, judged->workload) : nullptr;
    if (workload != nullptr && supported(*workload)) {
      observer.say(fmt::format("on {}, where experiment {} judged; --workload takes another one", workload->name,
                               judged->experiment));
      return *workload;
    }
  }
  const auto fitting = std::find_if(family.workloads.begin(), family.workloads.end(), [&](const Workload& one) {
    return one.target == workspace.target() && supported(one);
  });
  return fitting == family.workloads.end() ? family.workloads.front() : *fitting;
}

}  // namespace apo
