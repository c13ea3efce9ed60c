// harness/loop/trial/trial.cpp - a campaign without profile and research: its candidates are given.
#include "harness/loop/trial/trial.h"

#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/loop/certify.h"
#include "harness/loop/experiment.h"
#include "harness/loop/machine_check.h"
#include "harness/loop/policy.h"
#include "harness/loop/starting_point.h"
#include "harness/loop/workspace/chosen_workload.h"
#include "harness/loop/workspace/recover.h"

namespace apo {
namespace {

Campaign begin_trial(Workspace& workspace, Journal& journal, const TrialRequest& request, Observer& observer) {
  Campaign campaign{.policy = request.policy,
                    .baseline = starting_point(workspace, journal, request.policy, observer),
                    .machine = workspace.machine().id,
                    .started_at = utc_now()};
  campaign.policy.seed = secret_seed();
  campaign.policy.iterations = kNamedCandidates;
  campaign.policy.candidates_per_iteration = 1;
  journal.add_variant(workspace.catalogue().get(campaign.baseline.variant));
  campaign.id = journal.begin_campaign(campaign);
  return campaign;
}

Experiment judge(const CampaignFrame& frame, CampaignProgress& state, const Variant& variant, int index) {
  const std::int64_t iteration = frame.journal.begin_iteration(
      {.campaign = frame.campaign, .index = index, .incumbent = state.incumbent, .started_at = utc_now()});
  const Variant& incumbent = frame.workspace.catalogue().get(state.incumbent.variant);
  const Candidate candidate{.configuration = {variant.id(), default_settings(variant)},
                            .techniques = variant.techniques,
                            .prediction = prediction_over(variant, incumbent),
                            .why = "named on the command line",
                            .origin = Origin::registered};
  Experiment experiment = run_experiment(frame, state, iteration, candidate);
  frame.journal.finish_iteration(iteration);
  return experiment;
}

}  // namespace

Policy trial_policy(const Workspace& workspace, const TrialChoice& choice, Target target) {
  Policy policy = default_policy(choice.family);
  policy.target = target;
  policy.workloads = choice.workloads.empty()
                         ? std::vector<std::string>{first_workload(workspace.family(choice.family), target).name}
                         : choice.workloads;
  policy.cache_policy = choice.cache.empty() ? policy.cache_policy : checked_cache_policy(choice.cache);
  policy.judge_preset = choice.judge.empty() ? policy.judge_preset : choice.judge;
  complete_policy(policy, "");
  return policy;
}

TrialSummary run_trial(Workspace& workspace, const TrialRequest& request, Observer& observer, const OnTrial& told) {
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  recover(journal, observer);
  journal.add_machine(workspace.machine());
  const Campaign campaign = begin_trial(workspace, journal, request, observer);
  const CampaignFrame frame = make_frame(workspace, journal, observer, campaign, false);
  CampaignProgress state = make_state(frame);
  check_machine(frame, state);
  int index = 0;
  for (const std::string& id : request.variants) {
    const Variant& variant = workspace.catalogue().get(id);
    if (state.incumbent == Configuration{id, default_settings(variant)}) {
      told(id, nullptr);
    } else {
      const Experiment experiment = judge(frame, state, variant, ++index);
      told(id, &experiment);
    }
  }
  TrialSummary summary{.campaign = frame.campaign, .incumbent = state.incumbent, .certifications = {}};
  certify_incumbent(frame, state, summary.certifications);
  journal.finish_campaign(frame.campaign, frame.policy.seed, "");
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
