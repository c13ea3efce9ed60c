// harness/loop/campaign.cpp - runs the stages in order; every step is a journal row before the next begins.
#include "harness/loop/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/loop/campaign_checks.h"
#include "harness/loop/campaign_progress.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/loop/workspace/incumbents.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/workers.h"
#include "journal/journal.h"
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

Opened new_campaign(const Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer) {
  const Campaign campaign = begin_campaign(workspace, journal, policy, observer);
  observer.say(fmt::format("campaign {}: {} on {}, starting from {}", campaign.id, policy.family,
                           join(policy.workloads, ", "), campaign.baseline.label()));
  return {.campaign = campaign, .last_iteration = policy.iterations};
}

// `open` is taken: nobody else works on it, so what has not ended was interrupted.
Opened resume_campaign(const Workspace& workspace, Journal& journal, const Campaign& open,
                       const CampaignRequest& request, Observer& observer) {
  const std::vector<IterationRow> rows = iterations_of(journal, open.id);
  const auto begun = static_cast<int>(rows.size());
  const auto unfinished =
      static_cast<int>(std::ranges::count_if(rows, [](const IterationRow& row) { return row.ended_at.empty(); }));
  Campaign began = open;
  for (const SentinelRow& sentinel : sentinels_of(journal, open.id)) {
    for (const Round& round : sentinel_rounds(journal, sentinel.id)) {
      began.policy.launch = round.environment.graph.value_or(false) ? LaunchForm::graph : LaunchForm::stream;
    }
  }
  Opened opened{.campaign = open,
                .resumed = true,
                .first_iteration = begun + 1,
                .last_iteration = last_iteration(open, request, begun, unfinished)};
  opened.campaign.policy = resumed_policy(
      began, request, request.typed.contains("--baseline") ? named_baseline(workspace, request.policy) : std::nullopt);
  // The secret seed of the interrupted run is gone with it, on purpose: rounds must not be foreseeable.
  opened.campaign.policy.seed = secret_seed();
  observer.say(resumption_text(open, request.typed, opened.first_iteration, opened.last_iteration));
  return opened;
}

Opened open_campaign(const Workspace& workspace, Journal& journal, const CampaignRequest& request, Observer& observer) {
  Journal::Batch batch(journal);  // of two that start at once, one finds the other's campaign
  const Policy& policy = request.policy;
  const auto open = find_open_campaign(journal, policy.family, policy.workload_class, workspace.machine().id);
  if (open) {
    take_campaign(journal, *open);
    end_interrupted_workers(journal, open->id);
  }
  if (open && request.begin_anew) {
    mark_abandoned(journal, {.kind = Unfinished::Kind::campaign, .id = open->id}, "another one was begun with --new");
  }
  Opened opened = open && !request.begin_anew ? resume_campaign(workspace, journal, *open, request, observer)
                                              : new_campaign(workspace, journal, policy, observer);
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

std::string reason_text(const LeftOut& left_out) {
  switch (left_out.kind) {
    case LeftOutKind::incumbent:
      return "the same text as the incumbent";
    case LeftOutKind::refuted:
      return "refuted by experiments or a scan ('apo research FAMILY --json')";
    case LeftOutKind::below_resolution:
      return "less than one chance in ten of a gain that this machine resolves";
    case LeftOutKind::other_target:
    case LeftOutKind::unsupported:
    case LeftOutKind::unknown:
      return left_out.why;
  }
  return "";
}

// Reasons for variants that the last iteration's brief names, or that they were ranked.
std::map<std::string, std::string> reasons_of(const IterationSummary& iteration) {
  std::map<std::string, std::string> reasons;
  for (const Candidate& candidate : iteration.ranked) {
    reasons.try_emplace(candidate.configuration.variant, "ranked, and not reached: more --iterations judge them");
  }
  for (const LeftOut& left_out : iteration.left_out) {
    reasons.try_emplace(left_out.configuration.variant, reason_text(left_out));
  }
  return reasons;
}

// Every variant of the family that was not judged and is neither incumbent nor baseline, each in one group, as the last
// iteration saw it. Files that are no variants come last, by path.
std::vector<UntriedGroup> untried(const CampaignFrame& frame, const CampaignProgress& state,
                                  const std::vector<IterationSummary>& iterations) {
  std::set<std::string> judged = {state.incumbent.variant, frame.baseline.variant};
  for (const Experiment& experiment : experiments_of(frame.journal, frame.campaign)) {
    judged.insert(experiment.candidate.variant);
  }
  const auto reasons = iterations.empty() ? std::map<std::string, std::string>() : reasons_of(iterations.back());
  std::map<std::string, std::vector<std::string>> groups;
  for (const Variant* variant : frame.workspace.catalogue().of_family(frame.family.name)) {
    if (judged.contains(variant->id())) {
      continue;
    }
    const auto found = reasons.find(variant->id());
    groups[variant->target != frame.workspace.target() ? fmt::format("for target {}", to_string(variant->target))
           : found != reasons.end()                    ? found->second
                                                       : "no iteration came to them"]
        .push_back(variant->id());
  }
  std::vector<UntriedGroup> result;
  for (auto& [why, variants] : groups) {
    result.push_back({.why = why, .variants = std::move(variants)});
  }
  std::ranges::stable_sort(result, [](const auto& a, const auto& b) { return a.variants.size() > b.variants.size(); });
  UntriedGroup files{.why = "no valid variants: 'apo doctor' says why", .variants = {}};
  for (const CatalogueProblem& problem : frame.workspace.catalogue().problems()) {
    if (problem.left_out) {
      files.variants.push_back(problem.path);
    }
  }
  if (!files.variants.empty()) {
    result.push_back(std::move(files));
  }
  return result;
}

}  // namespace

bool refused_by_application(const CampaignSummary& summary) {
  const auto& comparison = summary.application.comparison;
  return comparison && comparison->judgement->verdict == Verdict::reverted;
}

CampaignSummary run_campaign(Workspace& workspace, const CampaignRequest& request, Observer& observer) {
  const auto started = Clock::now();
  CampaignSummary summary;
  Journal journal = journal_to_measure(workspace, observer, &summary.recovered);
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
  finish_campaign(journal, frame.campaign, frame.policy.seed, summary.stopped);
  report_campaign(frame, summary);
  summary.id = frame.campaign;
  summary.policy = frame.policy;
  summary.baseline = frame.baseline;
  summary.withdrawn = withdrawn_accepts(journal, frame.campaign);
  summary.incumbent = state.incumbent;
  summary.resumed = opened.resumed;
  summary.seconds = seconds_since(started);
  return summary;
}

}  // namespace apo
