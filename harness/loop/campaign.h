// harness/loop/campaign.h - runs iterations under one policy: profile, research, implement, evaluate, remember.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/proposers/ask_proposers.h"
#include "harness/loop/satellites.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/research.h"
#include "reports/proposals.h"

namespace apo {

// The options that a person typed, such as "--iterations"; their values are in the policy.
using TypedOptions = std::set<std::string>;

struct CampaignRequest {
  Policy policy;
  TypedOptions typed;
  std::vector<std::string> command;  // as typed, for messages: {"apo", "run", "copy", "--iterations", "1"}
  bool begin_anew = false;           // although an interrupted campaign could go on
  bool remeasure_roofs = false;      // although the journal has them
  ProposerOptions proposers = {};
  StartRemoteJudge start_remote = {};  // without it this process judges
  JudgeByApplication judge_by_application = {};
};

// Returns the policy of the interrupted campaign with the iterations, candidates and budget that were typed. `baseline`
// is the typed one. Throws UserError with a command for each choice when an option contradicts how the campaign began.
Policy resumed_policy(const Campaign& interrupted, const CampaignRequest& request,
                      const std::optional<Configuration>& baseline);

// Returns the last iteration of a campaign that has begun `begun` iterations, of which `unfinished` were interrupted
// and do not count. A number other than the campaign's own counts from here.
int last_iteration(const Campaign& interrupted, const CampaignRequest& request, int begun, int unfinished);

// "resuming campaign 1 at iteration 4 of 6, ...", or that its certification alone is left.
std::string resumption_text(const Campaign& interrupted, const TypedOptions& typed, int first, int last);

// Returns the words without these options and their values, which are written as "--option value" or "--option=value".
std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         const std::vector<std::string>& options);
// Returns a command line to copy, with quotes round words that contain blanks.
std::string command_line(const std::vector<std::string>& words);

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
