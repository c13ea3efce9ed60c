// harness/evaluate/judge/campaign_claims.h - keeps a long campaign honest: levels, certification, sentinels.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

inline constexpr int kCertificationRounds = 38;
inline constexpr int kCertifyEveryAccepts = 5;  // and at the campaign's end, and before a number is published
inline constexpr int kSentinelRounds = 14;
inline constexpr int kSentinelEveryCandidates = 10;  // and at the start, and when the fingerprint changes

// alpha_C(j) = alpha min(1, 50 / j): the chance of any false accept in N candidates stays below 0.5 % (1 + ln(N / 50)).
// Throws UserError when j < 1.
double confirm_alpha(int index, const JudgePreset& preset);

// The final incumbent against the campaign's original baseline, head to head: exactly 38 rounds that count, else
// UserError. Fills effect, the 99.8 % interval, rounds, claimed_effect, seconds, and the alarm: the 99.5 % upper bound
// is below 0.7 of the sum of the accepted effects, so the accepts have to be bisected and rolled back.
Certification certify(const std::vector<Round>& rounds, double claimed_effect);

// What a claim is beside the family's baseline: both of its arms in the place of the candidate of as many rounds. Log
// effects with their 99.8 % intervals; the baseline's own is 0.
inline constexpr int kBaselineRounds = 10;
struct EffectInterval {
  double effect = 0;
  double lower = 0;
  double upper = 0;
};
struct BaselineClaim {
  EffectInterval candidate;
  EffectInterval incumbent;
  bool holds = true;  // what lies between the two is not well below the claim, by the rule of a certification's alarm
};
BaselineClaim check_baseline_claim(double claimed_effect, std::span<const double> candidate,
                                   std::span<const double> incumbent);
// As a part of the verdict, which claims `claimed_speedup`; both names are labels of configurations.
std::string baseline_sentence(const BaselineClaim& claim, const std::string& candidate, const std::string& baseline,
                              double claimed_speedup);

// The result of the baseline against its own copy. A difference is a bug of the judge or of the machine.
struct SentinelCheck {
  double effect = 0;  // HL of the last sentinel
  double sd = 0;      // of its round effects: chooses the preset
  double p = 1;       // two-sided
  double pooled_p = 1;
  bool stop = false;  // the campaign
  std::string why;    // one sentence; empty unless `stop`
};
// `effects` are those of the last sentinel's rounds, `earlier_effects` those of all earlier sentinels on this machine.
// Stops on a difference with p < 0.001 that is above the margin in the last sentinel, or above half of it in all.
SentinelCheck check_sentinel(std::span<const double> effects, std::span<const double> earlier_effects,
                             const JudgePreset& preset);

// Evaluates the solo runs of a certification. Each workload has the same number of blocks of four, 0110 or 1001; throws
// UserError otherwise. The effect of a block is the mean over the workloads. Fills all fields but `missing` and
// `solo_run_s`. The clock is coupled when the Hodges-Lehmann estimate of the clocks' ratio is more than 0.5 % from 1
// and its interval excludes 1. With six blocks the interval spans the smallest to the largest value, which is 96.9 %.
inline constexpr int kSoloRunBlocks = 6;
ClockCoupling check_clock_coupling(std::span<const SoloRun> solo_runs);

}  // namespace apo
