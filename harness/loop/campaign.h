// harness/loop/campaign.h - runs iterations under one policy: profile, research, implement, evaluate, remember.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {

struct IterationSummary {
  std::int64_t id = 0;
  int index = 0;
  Configuration incumbent;  // at its start
  double time_ns = 0;       // of the incumbent, geometric mean over the workloads
  std::vector<Bottleneck> bottlenecks;
  std::vector<Experiment> experiments;  // without rounds
};

struct CampaignSummary {
  std::int64_t id = 0;
  Policy policy;
  Configuration baseline;
  Configuration champion;
  std::vector<IterationSummary> iterations;  // of this run; a resumed campaign may have earlier ones
  std::vector<Certification> certifications;
  double naive_effect = 0;     // log of the product of the accepted effects, and
  double shrunken_effect = 0;  // with the luck of each taken off: checks beside the certification, no claims
  std::string report;          // path of the markdown report
  std::string stopped;         // why it ended early; empty when all iterations are done
  bool resumed = false;
  std::vector<std::string> recovered;  // what an earlier, killed run had left open
  double seconds = 0;
};

// Runs the campaign to its end, or resumes one of the same family, workload class and machine that was interrupted
// (then with that campaign's policy). Takes the journal's lock. Roofs come from the journal unless `remeasure_roofs`.
CampaignSummary run_campaign(Workspace& workspace, const Policy& policy, Observer& observer,
                             bool remeasure_roofs = false);

}  // namespace apo
