// harness/loop/plan.h - how every command that measures puts the plan of its evaluation together.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/workspace/known.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

class Journal;

// The preset of a word; for "auto" the standard one, until choose_judge() has measured the noise. Throws UserError for
// an unknown word.
JudgePreset first_preset(const std::string& judge);

std::vector<const Workload*> workloads_named(const Workspace& workspace, const Family& family,
                                             const std::vector<std::string>& names);

// "copy/large does not support n4k: why" for the first such workload; "" where it supports all.
std::string unsupported(const Runtime& runtime, const Configuration& configuration,
                        const std::vector<const Workload*>& workloads);

// For "auto", returns the preset that fits the noise of this machine, by an A/A sentinel of `configuration`. Throws
// EnvironmentError when identical code differs.
void choose_judge(EvaluatePlan& plan, const std::string& judge_preset, const Runtime& runtime,
                  const Configuration& configuration, Observer& observer);

// Refuses smaller claims, and lets rounds share processes as far as the selftest allows.
void apply_floor(EvaluatePlan& plan, const ClaimFloor& floor);

// Returns, by workload, the time that no call can undercut at these roofs; empty without roofs.
std::map<std::string, double> floors_of(const Family& family, const std::vector<const Workload*>& workloads,
                                        const Machine& machine, const std::vector<Roof>& roofs);

// Sets the candidate's place among all that this journal has judged, where the plan has none, and says which level that
// leaves to its confirmation.
void count_candidate(Journal& journal, const Experiment& experiment, EvaluatePlan& plan, Observer& observer);

// Evaluates an experiment that was begun in this journal, which keeps each fact of it at once. One that ends by an
// exception is abandoned. The caller finishes it.
void evaluate_in(Journal& journal, const Runtime& runtime, Experiment& experiment, const EvaluatePlan& plan,
                 Observer& observer, const std::function<void(EvaluatePlan&)>& before_timing = {});

}  // namespace apo
