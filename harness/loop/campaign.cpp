// harness/loop/campaign.cpp - runs the stages in order; every step is a journal row before the next begins.
#include "harness/loop/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/loop/certify.h"
#include "harness/loop/machine_check.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/loop/starting_point.h"
#include "harness/loop/untried.h"
#include "harness/loop/workspace/recover.h"
#include "reports/load.h"
#include "reports/render.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

// A campaign that is this process's to run.
struct Opened {
  Campaign campaign;
  bool resumed = false;
  int first_iteration = 1;
  int last_iteration = 1;
};

Opened begin_campaign(const Workspace& workspace, Journal& journal, const CampaignRequest& request,
                      Observer& observer) {
  Campaign campaign{.policy = request.policy,
                    .baseline = starting_point(workspace, journal, request.policy, observer),
                    .machine = workspace.machine().id,
                    .started_at = utc_now()};
  campaign.policy.seed = secret_seed();
  journal.add_variant(workspace.catalogue().get(campaign.baseline.variant));
  campaign.id = journal.begin_campaign(campaign);
  observer.say(fmt::format("campaign {}: {} on {}, starting from {}", campaign.id, campaign.policy.family,
                           join(campaign.policy.workloads, ", "), campaign.baseline.label()));
  return {.campaign = campaign, .last_iteration = campaign.policy.iterations};
}

// `open` is taken: nobody else works on it, so what has not ended was interrupted.
Opened resume_campaign(const Workspace& workspace, Journal& journal, const Campaign& open,
                       const CampaignRequest& request, Observer& observer) {
  const std::vector<IterationRow> rows = journal.iterations(open.id);
  const auto begun = static_cast<int>(rows.size());
  const auto unfinished =
      static_cast<int>(std::ranges::count_if(rows, [](const IterationRow& row) { return row.ended_at.empty(); }));
  Opened opened{.campaign = open,
                .resumed = true,
                .first_iteration = begun + 1,
                .last_iteration = last_iteration(open, request, begun, unfinished)};
  opened.campaign.policy =
      resumed_policy(open, request, request.typed.baseline ? named_baseline(workspace, request.policy) : std::nullopt);
  // The secret seed of the interrupted run is gone with it, on purpose: rounds must not be foreseeable.
  opened.campaign.policy.seed = secret_seed();
  observer.say(resumption_text(open, request.typed, opened.first_iteration, opened.last_iteration));
  return opened;
}

Opened open_campaign(const Workspace& workspace, Journal& journal, const CampaignRequest& request, Observer& observer) {
  Journal::Batch batch(journal);  // of two that start at once, one finds the other's campaign
  const Policy& policy = request.policy;
  const auto open = journal.open_campaign(policy.family, policy.workload_class, workspace.machine().id);
  if (open) {
    journal.take_campaign(*open);
    journal.end_interrupted_workers(open->id);
  }
  if (open && request.begin_anew) {
    journal.mark_abandoned({.kind = Unfinished::Kind::campaign, .id = open->id}, "another one was begun with --new");
  }
  Opened opened = open && !request.begin_anew ? resume_campaign(workspace, journal, *open, request, observer)
                                              : begin_campaign(workspace, journal, request, observer);
  batch.commit();
  return opened;
}

// Whether there is more to judge than the incumbent, or somebody who may propose more.
bool has_candidates(const CampaignFrame& frame, const Configuration& incumbent) {
  const Catalogue& catalogue = frame.workspace.catalogue();
  const auto is_another = [&](const Variant* one) {
    return one->target == frame.workspace.target() && one->id() != incumbent.variant;
  };
  return !frame.proposers.commands.empty() || !catalogue.get(incumbent.variant).tunables.empty() ||
         std::ranges::any_of(catalogue.of_family(frame.family.name), is_another);
}

bool out_of_budget(const Policy& policy, Clock::time_point started) {
  return policy.budget_s > 0 && seconds_since(started) > policy.budget_s;
}

void iterate(const CampaignFrame& frame, CampaignProgress& state, const Opened& opened, Clock::time_point started,
             CampaignSummary& summary) {
  for (int index = opened.first_iteration; index <= opened.last_iteration; ++index) {
    if (out_of_budget(frame.policy, started)) {
      summary.stopped = "the budget of " + format_seconds(frame.policy.budget_s) + " is spent";
      break;
    }
    frame.observer.say(fmt::format("iteration {} of {}", index, opened.last_iteration));
    summary.iterations.push_back(run_iteration(frame, state, index));
    if (state.accepts_since_certificate >= kCertifyEveryAccepts) {
      certify_incumbent(frame, state, summary.certifications);
    }
    if (!summary.iterations.back().nothing_left.empty()) {
      summary.stopped = summary.iterations.back().nothing_left;
      break;
    }
  }
  if (!summary.stopped.empty()) {
    frame.observer.say("stopping: " + summary.stopped);
  }
}

void report_campaign(const CampaignFrame& frame, CampaignSummary& summary) {
  const auto folder = frame.workspace.paths().reports / fmt::format("campaign-{}", frame.campaign);
  const report::ReportModel model = report::load_model(frame.journal, frame.campaign);
  summary.naive_effect = model.naive_effect;
  summary.shrunken_effect = model.shrunken_effect;
  summary.proposer_calls = model.proposer_calls;
  summary.proposals = report::count_proposals(model);
  summary.report = report::write_report(model, report::Format::markdown, folder).front();
}

}  // namespace

bool refused_by_application(const CampaignSummary& summary) {
  const auto& comparison = summary.application.comparison;
  return comparison && comparison->judgement->verdict == Verdict::reverted;
}

CampaignSummary run_campaign(Workspace& workspace, const CampaignRequest& request, Observer& observer) {
  const auto started = Clock::now();
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  CampaignSummary summary{.recovered = recover(journal, observer)};
  journal.add_machine(workspace.machine());
  static_cast<void>(workspace.builder(false));  // throws where the compiler is missing, before a campaign is begun
  const Opened opened = open_campaign(workspace, journal, request, observer);
  CampaignFrame frame = make_frame(workspace, journal, observer, opened.campaign, request.remeasure_roofs);
  frame.proposers = request.proposers;
  frame.started = started;
  if (!frame.proposers.commands.empty()) {
    take_waiting_proposals(workspace, frame.family, observer);
  }
  const std::unique_ptr<RemoteJudge> remote = request.start_remote ? request.start_remote(frame) : nullptr;
  frame.remote = remote.get();
  CampaignProgress state = make_state(frame);
  if (has_candidates(frame, state.incumbent)) {
    check_machine(frame, state);
  }
  iterate(frame, state, opened, started, summary);
  if (remote != nullptr) {
    remote->finish();
  }
  certify_incumbent(frame, state, summary.certifications);
  if (request.judge_by_application) {
    summary.application = request.judge_by_application(frame, state.incumbent);
  }
  summary.untried = untried(frame, state, summary.iterations);
  journal.finish_campaign(frame.campaign, frame.policy.seed, summary.stopped);
  report_campaign(frame, summary);
  summary.id = frame.campaign;
  summary.policy = frame.policy;
  summary.baseline = frame.baseline;
  summary.withdrawn = journal.withdrawn(frame.campaign);
  summary.incumbent = state.incumbent;
  summary.resumed = opened.resumed;
  summary.seconds = seconds_since(started);
  return summary;
}

}  // namespace apo
