// harness/evaluate/judge/decision.cpp - the looks of the search stage, and the confirmation.
#include "harness/evaluate/judge/decision.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/normal.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {

Decision::Decision(JudgePreset preset, double confirm_alpha, int confirm_rounds)
    : profile_(std::move(preset)), confirm_alpha_(confirm_alpha), confirm_rounds_(confirm_rounds) {
  APO_CHECK(!profile_.looks.empty() && confirm_alpha_ > 0 && confirm_alpha_ < 0.5);
  if (confirm_rounds_ > 0) {
    phase_ = Phase::confirm;
  }
}

int Decision::rounds_planned() const {
  switch (phase_) {
    case Phase::search:
      return profile_.looks[next_look_].rounds;
    case Phase::confirm:
      return confirm_rounds_;
    case Phase::finished:
      break;
  }
  return 0;
}

int Decision::rounds_wanted() const {
  const std::vector<double>& stage = phase_ == Phase::search ? search_ : confirmation_;
  return phase_ == Phase::finished ? 0 : rounds_planned() - static_cast<int>(stage.size());
}

void Decision::add(double effect) {
  APO_CHECK(phase_ != Phase::finished);
  if (!std::isfinite(effect)) {
    throw UserError("the effect of a round is not a finite number", "measure the round again");
  }
  (phase_ == Phase::search ? search_ : confirmation_).push_back(effect);
  if (rounds_wanted() > 0) {
    return;
  }
  if (phase_ == Phase::search) {
    look();
  } else {
    conclude();
  }
}

void Decision::look() {
  if (profile_.ranks_only) {
    if (++next_look_ == profile_.looks.size()) {
      finish(Verdict::inconclusive, Reason::ranked);
    }
    return;
  }
  const WalshAverages averages(search_);
  const double lower = averages.lower(profile_.looks[next_look_].alpha);
  if (lower > profile_.margin) {
    start_confirmation(lower);
  } else if (averages.upper(profile_.regression_alpha) < 0 && averages.hodges_lehmann() < -profile_.margin) {
    finish(Verdict::reverted, Reason::regression);
  } else if (averages.upper(profile_.futility_alpha) < profile_.design_effect) {
    const bool inside = averages.lower(profile_.equivalence_alpha) > -profile_.equivalence_band &&
                        averages.upper(profile_.equivalence_alpha) < profile_.equivalence_band;
    finish(Verdict::reverted, inside ? Reason::equivalent : Reason::no_gain);
  } else if (++next_look_ == profile_.looks.size()) {
    finish(Verdict::inconclusive, Reason::unresolved);
  }
}

void Decision::start_confirmation(double lower_bound) {
  const double target = std::max(profile_.design_effect, lower_bound);
  const double needed = std::ceil(std::pow(profile_.confirm_factor * standard_deviation(search_) / target, 2));
  confirm_rounds_ = static_cast<int>(
      std::clamp(needed, static_cast<double>(profile_.confirm_min), static_cast<double>(profile_.confirm_max)));
  phase_ = Phase::confirm;
}

void Decision::conclude() {
  if (profile_.ranks_only) {
    finish(Verdict::inconclusive, Reason::ranked);
    return;
  }
  const WalshAverages averages(confirmation_);
  const double estimate = averages.hodges_lehmann();
  if (!(averages.lower(confirm_alpha_) > 0) || !(estimate >= profile_.margin)) {
    finish(Verdict::reverted, Reason::confirm_failed);
  } else if (estimate < minimum_claim()) {
    finish(Verdict::inconclusive, Reason::noisy);
  } else {
    finish(Verdict::accepted, Reason::faster);
  }
}

double Decision::minimum_claim() const {
  std::vector<double> effects = search_;
  effects.insert(effects.end(), confirmation_.begin(), confirmation_.end());
  const bool by_rounds = profile_.claims_by_rounds && effects.size() > 1;
  return std::max(profile_.minimum_claim, by_rounds ? smallest_claim(robust_spread(effects)) : 0);
}

void Decision::finish(Verdict verdict, Reason reason) {
  phase_ = Phase::finished;
  verdict_ = verdict;
  reason_ = reason;
}

double minimum_detectable_effect(const JudgePreset& preset, double confirm_alpha, double sd) {
  const double power = normal_quantile(0.975);  // of each stage, so that both pass in 95 of 100 cases
  const auto detectable = [&](int rounds, double alpha) {
    return (normal_quantile(1 - alpha) + power) * sd * std::sqrt(std::numbers::pi / 3 / rounds);
  };
  const double at_first_look = preset.margin + detectable(preset.looks.front().rounds, preset.looks.front().alpha);
  const double at_last_look = preset.margin + detectable(preset.looks.back().rounds, preset.looks.back().alpha);
  // A gain below the design effect has to pass the first look: later ones are not reached, for futility.
  const double search = std::min(at_first_look, std::max(preset.design_effect, at_last_look));
  return std::max({search, detectable(preset.confirm_max, confirm_alpha), preset.minimum_claim});
}

}  // namespace apo
