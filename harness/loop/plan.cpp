// harness/loop/plan.cpp - words to presets, the sentinel to a choice, roofs to floors.
#include "harness/loop/plan.h"

#include "harness/core/error.h"
#include "harness/evaluate/sentinel.h"
#include "harness/loop/workspace/known_roofs.h"

namespace apo {

EvaluatePlan make_plan(const PlanChoice& choice) {
  EvaluatePlan plan;
  plan.workloads = choice.workloads;
  plan.preset = any_asked_preset(choice.judge_preset).value_or(standard_preset());
  plan.cache = choice.cache;
  plan.seed = choice.seed;
  plan.rounds.layout = choice.layout;
  return plan;
}

std::vector<const Workload*> workloads_named(const Workspace& workspace, const Family& family,
                                             const std::vector<std::string>& names) {
  std::vector<const Workload*> workloads;
  for (const std::string& name : names) {
    workloads.push_back(&workspace.workload(family, name));
  }
  return workloads;
}

void choose_judge(EvaluatePlan& plan, const std::string& judge_preset, const Runtime& runtime,
                  const Configuration& configuration, Observer& observer) {
  if (any_asked_preset(judge_preset)) {
    return;  // make_plan() took it
  }
  const SentinelCheck check = run_sentinel(runtime, configuration, plan, 0, {}, observer).check;
  check_passed(check);
  plan.preset = choose_preset(check.sd, layout_control(plan.rounds.layout));
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

}  // namespace apo
