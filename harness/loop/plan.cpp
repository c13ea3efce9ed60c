// harness/loop/plan.cpp - words to presets, the sentinel to a choice, roofs to floors.
#include "harness/loop/plan.h"

#include <fmt/format.h>

#include "harness/core/text.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/evaluate.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/experiments.h"
#include "journal/facts/unfinished.h"

namespace apo {

JudgePreset first_preset(const std::string& judge) {
  return any_asked_preset(judge).value_or(standard_preset());
}

std::vector<const Workload*> workloads_named(const Workspace& workspace, const Family& family,
                                             const std::vector<std::string>& names) {
  std::vector<const Workload*> workloads;
  for (const std::string& name : names) {
    workloads.push_back(&workspace.workload(family, name));
  }
  return workloads;
}

std::string unsupported(const Runtime& runtime, const Configuration& configuration,
                        const std::vector<const Workload*>& workloads) {
  for (const Workload* workload : workloads) {
    if (const std::string why = runtime.unsupported(configuration, workload->axes); !why.empty()) {
      return configuration.label() + " does not support " + workload->name + ": " + why;
    }
  }
  return "";
}

void choose_judge(EvaluatePlan& plan, const std::string& judge_preset, const Runtime& runtime,
                  const Configuration& configuration, Observer& observer) {
  if (any_asked_preset(judge_preset)) {
    return;
  }
  const SentinelResult sentinel = run_sentinel(runtime, configuration, plan, 0, {}, observer);
  check_passed(sentinel.check);
  plan.preset = preset_after(sentinel, layout_control(plan.rounds.layout));
}

void apply_floor(EvaluatePlan& plan, const ClaimFloor& floor) {
  plan.preset = with_floor(plan.preset, floor);
  plan.rounds.rounds_per_process = floor.rounds_per_process;
}

std::map<std::string, double> floors_of(const Family& family, const std::vector<const Workload*>& workloads,
                                        const Machine& machine, const std::vector<Roof>& roofs) {
  std::map<std::string, double> floors;
  for (const Workload* workload : workloads) {
    if (!roofs.empty()) {
      floors[workload->name] = floor_of(family, *workload, machine, roofs);
    }
  }
  return floors;
}

void count_candidate(Journal& journal, const Experiment& experiment, EvaluatePlan& plan, Observer& observer) {
  if (plan.index == 0) {
    plan.index = 1 + judged_candidates(journal, experiment.family, experiment.workload_class, experiment.machine);
  }
  if (const double level = confirm_alpha(plan.index, plan.preset); level < plan.preset.confirm_alpha) {
    observer.say(fmt::format("candidate {} of {} {} on this machine: its confirmation has the level {}", plan.index,
                             experiment.family, experiment.workload_class, format_g(level, 2)));
  }
}

void evaluate_in(Journal& journal, const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan,
                 Observer& observer, const std::function<void(EvaluatePlan&)>& before_timing) {
  const std::int64_t id = experiment.id;
  const EvaluateHooks hooks{.on_build =
                                [&](const Build& build, bool candidate) {
                                  add_build(journal, id, candidate ? BuildRole::candidate : BuildRole::incumbent,
                                            build);
                                },
                            .on_gate = [&](const GateResult& gate) { add_gate(journal, id, gate); },
                            .on_round = [&](const Round& round) { add_round(journal, id, round); },
                            .before_timing =
                                [&](EvaluatePlan& timed) {
                                  if (before_timing) {
                                    before_timing(timed);
                                  }
                                  count_candidate(journal, experiment, timed, observer);
                                }};
  try {
    evaluate(runtime, experiment, plan, observer, hooks);
  } catch (const std::exception& error) {
    mark_abandoned(journal, {.kind = Unfinished::Kind::experiment, .id = id}, error.what());
    throw;
  }
}

}  // namespace apo
