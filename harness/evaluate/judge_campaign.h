// harness/evaluate/judge_campaign.h - what keeps a long campaign honest: levels, certification, sentinels.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/core/records.h"
#include "harness/evaluate/judge_profile.h"

namespace apo {

inline constexpr int kCertificationRounds = 38;
inline constexpr int kCertifyEveryAccepts = 5;  // and at the campaign's end, and before a number is published
inline constexpr int kSentinelRounds = 14;
inline constexpr int kSentinelEveryCandidates = 10;  // and at the start, and when the fingerprint changes

// alpha_C(j) = alpha min(1, 50 / j): the chance of any false accept in N candidates stays below 0.5 % (1 + ln(N / 50)).
// Throws UserError when j < 1.
double confirm_alpha(int index, const JudgeProfile& profile);

// The champion against the campaign's original baseline, head to head: exactly 38 rounds that count, else UserError.
// Fills effect, the 99.8 % interval, rounds, claimed_effect, seconds, and the alarm: the 99.5 % upper bound is below
// 0.7 of the sum of the accepted effects, so the accepts have to be bisected and rolled back.
Certification certify(const std::vector<Round>& rounds, double claimed_effect);

// The baseline against its own copy. Anything it finds is a bug of the judge or of the machine.
struct SentinelCheck {
  double effect = 0;  // HL of the last sentinel
  double sd = 0;      // of its round effects: chooses the profile
  double p = 1;       // two-sided
  double pooled_p = 1;
  bool stop = false;  // the campaign
  std::string why;    // one sentence; empty unless `stop`
};
// `effects` of the last sentinel's rounds, `earlier_effects` of all sentinels before it on this machine.
SentinelCheck check_sentinel(std::span<const double> effects, std::span<const double> earlier_effects,
                             const JudgeProfile& profile);

// One homogeneous stretch of at least two seconds, for candidates that heat the chip: interleaving hides those.
struct Segment {
  bool candidate = false;
  double seconds = 0;
  double calls = 0;
  double mhz = 0;  // mean clock over the stretch
};
struct ClockCoupling {
  double time_effect = 0;   // HL over the blocks of ln(time of incumbent / time of candidate)
  double cycle_effect = 0;  // the same in cycles
  bool coupled = false;     // they differ by more than 0.5 %: quote time_effect
};
// Blocks of four segments, 0110 or 1001; throws UserError when they are not.
ClockCoupling check_clock_coupling(std::span<const Segment> segments);

}  // namespace apo
