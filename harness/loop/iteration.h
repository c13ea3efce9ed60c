// harness/loop/iteration.h - runs one turn of the loop, and certifies its results.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/loop/campaign_progress.h"
#include "harness/research/research.h"

namespace apo {

struct IterationSummary {
  std::int64_t id = 0;
  int index = 0;
  Configuration incumbent;  // at its start
  double time_ns = 0;       // of the incumbent, geometric mean over the workloads
  std::vector<Bottleneck> bottlenecks;
  std::vector<Candidate> ranked;
  std::vector<LeftOut> left_out;
  std::vector<Idea> unwritten;          // techniques that nobody has written for this incumbent
  std::vector<Experiment> experiments;  // without rounds
  std::string nothing_left;             // why nothing is worth judging any more; empty while something is
};

// Candidates are tried one by one until one is accepted or the policy's number is tried; after each the rest is ranked
// anew.
IterationSummary run_iteration(const CampaignFrame& frame, CampaignProgress& state, int index);

}  // namespace apo
