// harness/loop/comparison.h - judges one experiment outside a campaign, for `apo compare`.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct ComparisonRequest {
  Configuration incumbent;
  Configuration candidate;
  std::vector<std::string> workloads;  // empty = the family's first
  CachePolicy cache_policy = CachePolicy::cold;
  std::string judge_preset = "auto";  // by an A/A sentinel of the incumbent
  bool skip_correctness = false;
  bool keep = true;        // record it in the journal
  bool same_code = false;  // time even when the machine code is identical
  Layout layout = Layout::random;
  LaunchForm launch = LaunchForm::stream;
};

// Throws UserError for two families, unknown words and an unsupported workload.
Experiment compare_variants(Workspace& workspace, const ComparisonRequest& request, Observer& observer);

}  // namespace apo
