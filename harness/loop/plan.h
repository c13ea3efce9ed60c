// harness/loop/plan.h - how every command that measures puts the plan of its evaluation together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/workspace/claim_floor.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct PlanChoice {
  std::vector<const Workload*> workloads;
  CachePolicy cache = CachePolicy::cold;
  std::string judge_preset = "auto";  // the standard preset, until choose_judge() has measured the noise
  Layout layout = Layout::random;
  std::uint64_t seed = 0;
};
// Throws UserError for an unknown preset.
EvaluatePlan make_plan(const PlanChoice& choice);

std::vector<const Workload*> workloads_named(const Workspace& workspace, const Family& family,
                                             const std::vector<std::string>& names);

// For "auto", returns the preset that fits the noise of this machine, by an A/A sentinel of `configuration`. Throws
// EnvironmentError when identical code differs.
void choose_judge(EvaluatePlan& plan, const std::string& judge_preset, const Runtime& runtime,
                  const Configuration& configuration, Observer& observer);

// Refuses smaller claims, and lets rounds share processes as far as the selftest allows.
void apply_floor(EvaluatePlan& plan, const ClaimFloor& floor);

// Returns, by workload, the time that no call can undercut at these roofs; empty without roofs.
std::map<std::string, double> floors_of(const Family& family, const std::vector<const Workload*>& workloads,
                                        const Machine& machine, const std::vector<Roof>& roofs);

}  // namespace apo
