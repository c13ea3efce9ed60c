// harness/loop/campaign_progress.h - what a campaign knows from its start, and what its iterations change.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/proposers/ask_proposers.h"
#include "harness/loop/workspace/known.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/research/inputs.h"
#include "journal/journal.h"

namespace apo {

class RemoteJudge;

// Stays the same while the campaign runs.
struct CampaignFrame {
  Workspace& workspace;
  Journal& journal;
  Observer& observer;
  std::int64_t campaign = 0;
  Policy policy;
  Configuration baseline;
  const Family& family;
  Runtime runtime;
  std::vector<Roof> roofs;
  double application_share = 1;  // of the application's time that the family's kernels take
  ProposerOptions proposers = {};
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  std::optional<ClaimFloor> given_floor = {};  // by a driver, whose journal has the selftests; else the journal's
  RemoteJudge* remote = nullptr;               // judges the candidates; else this process does
};

struct CampaignProgress {
  Configuration incumbent;
  EvaluatePlan plan;
  double minimum_detectable = 0.003;  // log effect that the sentinel says this machine resolves
  ClaimFloor claim_floor;
  bool machine_checked = false;  // by a sentinel of this run, which then chose:
  JudgePreset auto_preset = {};
  int timed_candidates = 0;  // of the campaign
  int since_sentinel = 0;
  int sentinels = 0;
  int certificates = 0;
  int accepts_since_certificate = 0;
  std::vector<ProposedSettings> proposed;  // by proposers, of known variants
};

// Takes roofs from the journal, or measures and stores them.
CampaignFrame make_frame(Workspace& workspace, Journal& journal, Observer& observer, const Campaign& campaign,
                         bool remeasure_roofs);
// Starts a new campaign, or restores a resumed one with its accepts.
CampaignProgress make_state(const CampaignFrame& frame);
// Returns the candidate that was accepted last and is not withdrawn, else the baseline.
Configuration standing_incumbent(const CampaignFrame& frame);

// Marks experiments, iterations, comparisons and trials (`apo try`) without a running process as abandoned; other open
// campaigns stay open, to be resumed. Returns one sentence each.
std::vector<std::string> recover(Journal& journal, Observer& observer);

// The journal of a command that measures: what a killed run left open is marked, and this machine is known.
// `recovered`, unless null, gets what recover() returns.
Journal journal_to_measure(const Workspace& workspace, Observer& observer,
                           std::vector<std::string>* recovered = nullptr);
// Begins a campaign in the journal, from its starting point and with a new secret seed.
Campaign begin_campaign(const Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer);

}  // namespace apo
