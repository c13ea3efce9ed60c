// harness/loop/iteration.h - runs one turn of the loop, and certifies its results.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/campaign.h"
#include "harness/loop/workspace/claim_floor.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

// The state that one campaign carries from iteration to iteration.
struct IterationContext {
  Workspace& workspace;
  Journal& journal;
  Observer& observer;
  std::int64_t campaign = 0;
  const Policy& policy;
  bool remeasure_roofs = false;  // although the journal has them

  // Filled by set_up and kept up to date by the iterations.
  const Family* family = nullptr;
  Runtime runtime;
  EvaluatePlan plan;  // workloads, profile, cache policy, floors
  std::vector<Roof> roofs;
  Configuration baseline;
  Configuration incumbent;
  double application_share = 1;       // of the application's time that the family's kernels take
  double minimum_detectable = 0.003;  // log effect that the sentinel says this machine resolves
  ClaimFloor claim_floor;
  int timed_candidates = 0;  // j
  int since_sentinel = 0;
  int sentinels = 0;
  int certificates = 0;
  int accepts_since_certificate = 0;
};

// Family, runtime, workloads, roofs (from the journal, else measured), incumbent, counts of a resumed campaign.
void set_up(IterationContext& context);
// The A/A sentinel: chooses the judge's profile, stops the campaign (EnvironmentError) when identical code differs.
void check_machine(IterationContext& context);
// Profile, research, then candidates one by one until one is accepted or the policy's number is tried.
IterationSummary run_iteration(IterationContext& context, int index);
// The incumbent against the campaign's baseline.
Certification certify_incumbent(IterationContext& context, CachePolicy cache);

}  // namespace apo
