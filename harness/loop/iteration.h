// harness/loop/iteration.h - runs one turn of the loop, and certifies its results.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/loop/campaign_progress.h"

namespace apo {

struct IterationSummary {
  std::int64_t id = 0;
  int index = 0;
  Configuration incumbent;  // at its start
  double time_ns = 0;       // of the incumbent, geometric mean over the workloads
  std::vector<Bottleneck> bottlenecks;
  std::vector<Candidate> ranked;
  std::vector<LeftOut> left_out;
  std::vector<Experiment> experiments;  // without rounds
};

// Candidates are tried one by one until one is accepted or the policy's number is tried; after each the rest is ranked
// anew.
IterationSummary run_iteration(const CampaignFrame& frame, CampaignProgress& state, int index);

}  // namespace apo
