// harness/loop/work_ahead.cpp - one thread for one candidate: its builds first, then the executor's gate.
#include "harness/loop/work_ahead.h"

#include <exception>
#include <utility>

#include "harness/loop/trial/registration.h"

namespace apo {
namespace {

using Gates = std::vector<GateResult>;

Gates run_steps(const AheadSteps& steps, const std::stop_token& stop) {
  try {
    steps.build();
  } catch (const std::exception&) {
    // whoever asks for this build meets the same error, and reports it
  }
  return steps.check ? steps.check(stop) : Gates();
}

// For the campaign's workloads, and those that correctness is always checked on.
std::vector<Axes> axes_to_build(const Family& family, const std::vector<const Workload*>& workloads) {
  std::vector<Axes> axes;
  for (const Workload* workload : workloads) {
    axes.push_back(workload->axes);
  }
  for (const Workload& workload : family.workloads) {
    if (is_small(workload)) {
      axes.push_back(workload.axes);
    }
  }
  return axes;
}

// They look nothing up in the catalogue, which changes while they run.
AheadSteps steps_for(const CampaignFrame& frame, const CampaignProgress& state, const Configuration& candidate) {
  const Variant variant = frame.workspace.catalogue().get(candidate.variant);
  AheadSteps steps;
  steps.build = [candidate, runtime = frame.workspace.runtime(frame.family, {{variant.id(), variant}}),
                 axes = axes_to_build(frame.family, state.plan.workloads)] {
    for (const Axes& one : axes) {
      if (runtime.unsupported(candidate, one).empty()) {
        static_cast<void>(runtime.build(candidate, one, false));
      }
    }
  };
  if (takes_executor_gate(frame.workspace.catalogue(), variant)) {
    steps.check = [paths = frame.workspace.paths(), variant](const std::stop_token& stop) {
      return executor_gates(paths, variant, stop);
    };
  }
  return steps;
}

}  // namespace

void WorkAhead::begin() {
  if (!steps_of_ || !next_ || begun_.contains(next_->label())) {
    return;
  }
  for (const auto& [label, work] : begun_) {
    if (work.is_under_way()) {
      return;
    }
  }
  begun_.try_emplace(next_->label(),
                     [steps = steps_of_(*next_)](const std::stop_token& stop) { return run_steps(steps, stop); });
}

std::optional<std::vector<GateResult>> WorkAhead::take(const Configuration& candidate, const std::stop_token& stop) {
  const auto found = begun_.find(candidate.label());
  return found == begun_.end() || found->second.is_taken() ? std::nullopt : std::optional(found->second.take(stop));
}

bool has_idle_cores(Target target, int cores) {
  constexpr int kExecutor = 6;  // that it runs on at most
  return target == Target::cuda && cores >= kExecutor + 2;
}

WorkAhead work_ahead(const CampaignFrame& frame, const CampaignProgress& state) {
  if (!has_idle_cores(frame.workspace.target(), frame.runtime.threads)) {
    return WorkAhead({});
  }
  return WorkAhead([&](const Configuration& candidate) { return steps_for(frame, state, candidate); });
}

}  // namespace apo
