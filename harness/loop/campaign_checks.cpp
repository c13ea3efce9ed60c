// harness/loop/campaign_checks.cpp - runs sentinel and certification, keeps them, and sets the state by them.
#include "harness/loop/campaign_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge/decision.h"
#include "harness/loop/plan.h"
#include "journal/facts/checks.h"

namespace apo {
namespace {

// The sum of the accepted effects.
double claimed_effect(const CampaignFrame& frame) {
  double claimed = 0;
  for (const Experiment& experiment : standing_accepts(frame.journal, frame.campaign)) {
    claimed += experiment.judgement->effect;
  }
  return claimed;
}

// With the caches in the other state nothing was claimed: where this machine is too restless for that figure, it is
// missing, and the campaign ends all the same.
std::optional<CertificationResult> certification_of(const CampaignFrame& frame, CampaignProgress& state, double claimed,
                                                    CachePolicy cache) {
  EvaluatePlan plan = state.plan;
  plan.cache = cache;
  try {
    return run_certification(frame.runtime, state.incumbent, frame.baseline, claimed, plan, state.certificates++,
                             frame.observer);
  } catch (const DeviceLost&) {
    throw;
  } catch (const EnvironmentError& error) {
    if (cache == frame.policy.cache_policy) {
      throw EnvironmentError(
          fmt::format("{} is accepted, but not certified: {}", state.incumbent.label(), error.what()),
          error.hint() + "; the same command certifies what was accepted");
    }
    frame.observer.say(fmt::format("not certified ({}): {}", to_string(cache), with_hint(error)));
    return std::nullopt;
  }
}

}  // namespace

void certify_incumbent(const CampaignFrame& frame, CampaignProgress& state,
                       std::vector<Certification>& certifications) {
  if (state.accepts_since_certificate == 0) {
    return;
  }
  const double claimed = claimed_effect(frame);
  const CachePolicy own = frame.policy.cache_policy;
  for (const CachePolicy cache : {own, own == CachePolicy::cold ? CachePolicy::warm : CachePolicy::cold}) {
    std::optional<CertificationResult> result = certification_of(frame, state, claimed, cache);
    if (!result) {
      continue;
    }
    Certification& one = certifications.emplace_back(std::move(result->certification));
    one.campaign = frame.campaign;
    one.launch = frame.policy.launch;
    // With the caches in the other state nothing was claimed: what holds cold need not hold warm.
    one.alarm = one.alarm && cache == own;
    one.id = add_certification(frame.journal, one, result->rounds, result->solo_runs);
    frame.observer.say("certified (" + std::string(to_string(one.cache_policy)) + "): " + certified_text(one) +
                       (one.alarm ? "  ALARM: well below what was claimed step by step" : ""));
  }
  state.accepts_since_certificate = 0;
  state.incumbent = standing_incumbent(frame);
}

namespace {

// Earlier sentinels of this machine: workers run theirs on others.
std::vector<double> earlier_effects(const CampaignFrame& frame) {
  std::vector<double> effects;
  for (const SentinelRow& sentinel : sentinels_of(frame.journal, frame.campaign)) {
    if (sentinel.machine != frame.workspace.machine().id) {
      continue;
    }
    for (const Round& round : sentinel_rounds(frame.journal, sentinel.id)) {
      if (round.void_why.empty()) {
        effects.push_back(round.effect);
      }
    }
  }
  return effects;
}

void keep(const CampaignFrame& frame, const CampaignProgress& state, const SentinelResult& sentinel) {
  add_sentinel(frame.journal,
               {.campaign = frame.campaign,
                .machine = frame.workspace.machine().id,
                .configuration = state.incumbent,
                .effect = sentinel.check.effect,
                .lower = sentinel.lower,
                .upper = sentinel.upper,
                .confidence = 1 - 2 * state.plan.preset.interval_alpha,
                .sd = sentinel.check.sd,
                .p_value = sentinel.check.p,
                .rounds = kSentinelRounds,
                .alarm = sentinel.check.stop,
                .preset = state.plan.preset.name,
                .cache_policy = frame.policy.cache_policy,
                .rule_version = std::string(kRuleVersion),
                .seconds = sentinel.seconds},
               sentinel.rounds);
}

}  // namespace

void check_machine(const CampaignFrame& frame, CampaignProgress& state) {
  const SentinelResult sentinel = run_sentinel(frame.runtime, state.incumbent, state.plan, state.sentinels++,
                                               earlier_effects(frame), frame.observer);
  state.since_sentinel = 0;
  keep(frame, state, sentinel);
  check_passed(sentinel.check);
  state.machine_checked = true;
  EvaluatePlan& plan = state.plan;
  state.auto_preset = preset_after(sentinel, layout_control(plan.rounds.layout));
  if (!any_asked_preset(frame.policy.judge_preset)) {
    plan.preset = state.auto_preset;
  }
  state.claim_floor = frame.given_floor ? *frame.given_floor
                                        : claim_floor(&frame.journal, frame.workspace.machine(), frame.family.name,
                                                      frame.policy.workloads);
  apply_floor(plan, state.claim_floor);
  const bool is_of_smaller = !sentinel.smaller_workload.empty();
  state.minimum_detectable =
      is_of_smaller ? plan.preset.design_effect
                    : std::max(plan.preset.margin,
                               minimum_detectable_effect(plan.preset, plan.preset.confirm_alpha, sentinel.check.sd));
  frame.observer.say(state.claim_floor.sentence);
  frame.observer.say(
      fmt::format("A/A sentinel{}: {} over {} rounds, spread of a round {} %; judge preset {}{}",
                  is_of_smaller ? " on " + sentinel.smaller_workload + ", whose calls are short" : "",
                  format_change(sentinel.check.effect, sentinel.lower, sentinel.upper).all(), kSentinelRounds,
                  format_g(100 * sentinel.check.sd, 2), plan.preset.name,
                  is_of_smaller ? "" : ", resolves about " + format_percent(state.minimum_detectable, 1)));
}

}  // namespace apo
