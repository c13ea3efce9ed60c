// harness/loop/trial/trial.cpp - a campaign without profile and research: its candidates come one after the other.
#include "harness/loop/trial/trial.h"

#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/loop/campaign_checks.h"
#include "harness/loop/experiment.h"
#include "harness/loop/policy.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/recover.h"

namespace apo {
namespace {

Journal open_journal(const Workspace& workspace, Observer& observer) {
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  recover(journal, observer);
  journal.add_machine(workspace.machine());
  return journal;
}

Campaign begin_trial(Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer) {
  Campaign campaign{.policy = policy,
                    .baseline = starting_point(workspace, journal, policy, observer),
                    .machine = workspace.machine().id,
                    .started_at = utc_now()};
  campaign.policy.seed = secret_seed();
  campaign.policy.iterations = kNamedCandidates;
  campaign.policy.candidates_per_iteration = 1;
  journal.add_variant(workspace.catalogue().get(campaign.baseline.variant));
  campaign.id = journal.begin_campaign(campaign);
  return campaign;
}

}  // namespace

Policy trial_policy(const Workspace& workspace, const TrialChoice& choice, Target target) {
  Policy policy = default_policy(choice.family);
  policy.target = target;
  policy.workloads = choice.workloads.empty()
                         ? std::vector<std::string>{first_workload(workspace.family(choice.family), target).name}
                         : choice.workloads;
  policy.cache_policy = choice.cache.empty() ? policy.cache_policy : checked_cache_policy(choice.cache);
  if (!choice.judge.empty()) {
    check_candidate_judge(choice.judge);
  }
  const bool of_candidates = choice.judge.empty() || choice.judge == kQuickPreset;
  policy.judge_preset = of_candidates ? policy.judge_preset : choice.judge;
  complete_policy(policy, "");
  return policy;
}

Trial::Trial(Workspace& workspace, const Policy& policy, Observer& observer)
    : journal_(open_journal(workspace, observer)),
      frame_(make_frame(workspace, journal_, observer, begin_trial(workspace, journal_, policy, observer), false)),
      state_(make_state(frame_)) {}

bool Trial::relies_on(const std::string& variant) const {
  return variant == state_.incumbent.variant || variant == frame_.baseline.variant;
}

double Trial::floor_ns() const {
  const auto floor = state_.plan.floor_ns.find(frame_.policy.workloads.front());
  return floor == state_.plan.floor_ns.end() ? 0 : floor->second;
}

Experiment Trial::judge(const Configuration& configuration, const std::string& judge) {
  if (state_.since_sentinel >= kSentinelEveryCandidates) {
    state_.machine_checked = false;
  }
  const std::int64_t iteration = journal_.begin_iteration(
      {.campaign = frame_.campaign, .index = ++iterations_, .incumbent = state_.incumbent, .started_at = utc_now()});
  const Variant& incumbent = frame_.workspace.catalogue().get(state_.incumbent.variant);
  const Variant& variant = frame_.workspace.catalogue().get(configuration.variant);
  const Candidate candidate{.configuration = configuration,
                            .techniques = techniques_of(variant, configuration.settings),
                            .prediction = configuration.settings == default_settings(variant)
                                              ? prediction_over(variant, incumbent)
                                              : Prediction(),  // the author said nothing of other settings
                            .why = "named on the command line",
                            .origin = Origin::registered};
  try {
    Experiment experiment = run_experiment(frame_, state_, iteration, candidate, judge);
    journal_.finish_iteration(iteration);
    return experiment;
  } catch (const std::exception& error) {
    journal_.mark_abandoned({.kind = Unfinished::Kind::iteration, .id = iteration}, error.what());
    throw;
  }
}

TrialSummary Trial::finish() {
  TrialSummary summary{.campaign = frame_.campaign, .incumbent = state_.incumbent, .certifications = {}};
  certify_incumbent(frame_, state_, summary.certifications);
  summary.incumbent = state_.incumbent;
  journal_.finish_campaign(frame_.campaign, frame_.policy.seed, "");
  return summary;
}

Prediction prediction_over(const Variant& candidate, const Variant& incumbent) {
  if (!candidate.prediction) {
    return {};
  }
  const std::string& over = candidate.prediction->relative_to;
  const bool meant =
      over == "parent" ? candidate.parent == incumbent.id() : over == incumbent.id() || over == incumbent.name;
  return meant ? *candidate.prediction : Prediction();
}

}  // namespace apo
