// harness/loop/certify.cpp - claims what was accepted, measures it in fresh rounds, keeps and tells the result.
#include "harness/loop/certify.h"

#include "harness/evaluate/certification.h"

namespace apo {
namespace {

// The sum of the accepted effects.
double claimed_effect(const CampaignFrame& frame) {
  double claimed = 0;
  for (const Experiment& experiment : frame.journal.standing_accepts(frame.campaign)) {
    claimed += experiment.judgement->effect;
  }
  return claimed;
}

}  // namespace

void certify_incumbent(const CampaignFrame& frame, CampaignProgress& state,
                       std::vector<Certification>& certifications) {
  if (state.accepts_since_certificate == 0) {
    return;
  }
  const double claimed = claimed_effect(frame);
  for (const CachePolicy cache : {CachePolicy::cold, CachePolicy::warm}) {
    EvaluatePlan plan = state.plan;
    plan.cache = cache;
    CertificationResult result = run_certification(frame.runtime, state.incumbent, frame.baseline, claimed, plan,
                                                   state.certificates++, frame.observer);
    Certification& one = certifications.emplace_back(std::move(result.certification));
    one.campaign = frame.campaign;
    // With the caches in the other state nothing was claimed: what holds cold need not hold warm.
    one.alarm = one.alarm && cache == frame.policy.cache_policy;
    one.id = frame.journal.add_certification(one, result.rounds, result.solo_runs);
    frame.observer.say("certified (" + std::string(to_string(one.cache_policy)) + "): " + certified_text(one) +
                       (one.alarm ? "  ALARM: well below what was claimed step by step" : ""));
  }
  state.accepts_since_certificate = 0;
  state.incumbent = standing_incumbent(frame);
}

}  // namespace apo
