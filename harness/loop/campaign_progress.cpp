// harness/loop/campaign_progress.cpp - family, runtime, roofs and plan of a campaign; counts of a resumed one.
#include "harness/loop/campaign_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/core/system/secret.h"
#include "harness/core/text.h"
#include "harness/loop/plan.h"
#include "harness/loop/workspace/incumbents.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/experiments.h"
#include "journal/facts/machines.h"
#include "journal/facts/profiles.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/variants.h"

namespace apo {

namespace {

std::vector<Roof> roofs_of(Workspace& workspace, Journal& journal, Observer& observer, bool remeasure) {
  std::vector<Roof> roofs = remeasure ? std::vector<Roof>() : known_roofs(journal, workspace.machine());
  if (roofs.empty()) {
    observer.say("measuring the roofs of this machine");
    roofs = workspace.measure_roofs();
    add_roofs(journal, workspace.machine().id, roofs);
  }
  return roofs;
}

EvaluatePlan plan_of(const CampaignFrame& frame) {
  const Policy& policy = frame.policy;
  EvaluatePlan plan{.workloads = workloads_named(frame.workspace, frame.family, policy.workloads),
                    .preset = first_preset(policy.judge_preset),
                    .cache = policy.cache_policy,
                    .seed = policy.seed,
                    .rounds = {.layout = policy.layout.value_or(Layout::random)}};
  const Machine& machine = frame.workspace.machine();
  plan.solo_run_s = policy.solo_run_s > 0 ? policy.solo_run_s : machine.target == Target::cuda ? kSoloRunSeconds : 0;
  plan.floor_ns = floors_of(frame.family, plan.workloads, machine, frame.roofs);
  plan.baseline = family_baseline(frame.workspace, policy.family);
  if (plan.baseline == frame.baseline) {
    plan.baseline.reset();  // the certification of the campaign is against it
  }
  return plan;
}

}  // namespace

CampaignFrame make_frame(Workspace& workspace, Journal& journal, Observer& observer, const Campaign& campaign,
                         bool remeasure_roofs) {
  const Family& family = workspace.family(campaign.policy.family);
  workspace.launch_as(campaign.policy.launch);
  return {.workspace = workspace,
          .journal = journal,
          .observer = observer,
          .campaign = campaign.id,
          .policy = campaign.policy,
          .baseline = campaign.baseline,
          .family = family,
          .runtime = workspace.runtime(family),
          .roofs = roofs_of(workspace, journal, observer, remeasure_roofs),
          .application_share = application_share(journal, campaign.policy.application_kernels, observer)};
}

CampaignProgress make_state(const CampaignFrame& frame) {
  CampaignProgress state{.incumbent = standing_incumbent(frame), .plan = plan_of(frame), .claim_floor = {}};
  for (const Experiment& experiment : experiments_of(frame.journal, frame.campaign, Detail::summary)) {
    state.timed_candidates = std::max(state.timed_candidates, experiment.index);
  }
  const std::vector<Certification> certifications = certifications_of(frame.journal, frame.campaign);
  state.certificates = static_cast<int>(certifications.size());
  const bool certified =
      std::any_of(certifications.begin(), certifications.end(),
                  [&](const Certification& certification) { return certification.incumbent == state.incumbent; });
  state.accepts_since_certificate =
      certified ? 0 : static_cast<int>(standing_accepts(frame.journal, frame.campaign).size());
  return state;
}

Configuration standing_incumbent(const CampaignFrame& frame) {
  const std::vector<Experiment> accepts = standing_accepts(frame.journal, frame.campaign);
  return accepts.empty() ? frame.baseline : accepts.back().candidate;
}

namespace {

bool can_be_resumed(Journal& journal, std::int64_t campaign) {
  return find_campaign(journal, campaign)->policy.iterations != kNamedCandidates;
}

}  // namespace

std::vector<std::string> recover(Journal& journal, Observer& observer) {
  std::vector<std::string> said;
  Journal::Batch batch(journal);  // nobody finishes meanwhile what is found open and unattended
  for (const Unfinished& what : all_unfinished(journal)) {
    const std::optional<std::string> who = who_works_on(journal, what);
    if (what.kind == Unfinished::Kind::campaign && who) {
      observer.say(what.what + " is being run by " + *who + ": where the two share a device, both measure slower and " +
                   "resolve less");
    }
    if (who || (what.kind == Unfinished::Kind::campaign && can_be_resumed(journal, what.id))) {
      continue;
    }
    std::string line = "an earlier run was interrupted in " + what.what + " (begun " + what.started_at + ")";
    if (what.kind == Unfinished::Kind::comparison) {
      line += fmt::format(": it ends inconclusive after {} rounds or runs, which are kept", what.rounds);
    } else if (what.kind == Unfinished::Kind::experiment) {
      line += fmt::format(": abandoned after {} rounds, which are kept", what.rounds);
    }
    mark_abandoned(journal, what, "the run that measured it was interrupted");
    observer.say(line);
    said.push_back(line);
  }
  batch.commit();
  return said;
}

Journal journal_to_measure(const Workspace& workspace, Observer& observer, std::vector<std::string>* recovered) {
  Journal journal = Journal::open(workspace.paths().journal, Access::read_write);
  std::vector<std::string> said = recover(journal, observer);
  if (recovered != nullptr) {
    *recovered = std::move(said);
  }
  add_machine(journal, workspace.machine());
  return journal;
}

Campaign begin_campaign(const Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer) {
  Campaign campaign{.policy = policy,
                    .baseline = starting_point(workspace, journal, policy, observer),
                    .machine = workspace.machine().id,
                    .started_at = utc_now()};
  campaign.policy.seed = secret_seed();
  add_variant(journal, workspace.catalogue().get(campaign.baseline.variant));
  campaign.id = begin_campaign(journal, campaign);
  return campaign;
}

}  // namespace apo
