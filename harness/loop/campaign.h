// harness/loop/campaign.h - runs iterations under one policy: profile, research, implement, evaluate, remember.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/iteration.h"
#include "harness/loop/resume.h"
#include "harness/loop/satellites.h"
#include "harness/loop/workspace/workspace.h"
#include "reports/proposals.h"

namespace apo {

struct UntriedGroup {
  std::string why;
  std::vector<std::string> variants;  // by id
};

struct CampaignSummary {
  std::int64_t id = 0;
  Policy policy;
  Configuration baseline;
  Configuration incumbent;                   // accepted last and not withdrawn, else the baseline
  std::set<std::int64_t> withdrawn;          // accepted experiments that an alarm of a certification has withdrawn
  std::vector<IterationSummary> iterations;  // of this run; a resumed campaign may have earlier ones
  std::vector<Certification> certifications;
  CampaignApplication application;  // the final incumbent against the baseline, where one is declared
  double naive_effect = 0;          // log of the product of the accepted effects, and
  double shrunken_effect = 0;       // shrunk for selection bias: checks beside the certification, no claims
  std::string report;               // path of the markdown report
  std::string stopped;              // why it ended early; empty when all iterations are done
  std::vector<UntriedGroup> untried;
  std::vector<ProposerCall> proposer_calls;  // of the whole campaign
  report::ProposalCounts proposals;          // of the whole campaign
  bool resumed = false;
  std::vector<std::string> recovered;  // what an earlier, killed run had left open
  double seconds = 0;
};

// Whether the declared application refused what the campaign ends with.
bool refused_by_application(const CampaignSummary& summary);

// Runs the campaign to its end, or resumes an interrupted one of the same family, workload class and machine with that
// campaign's policy, except for options that were typed. Takes the journal's lock.
CampaignSummary run_campaign(Workspace& workspace, const CampaignRequest& request, Observer& observer);

}  // namespace apo
