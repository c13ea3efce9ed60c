// harness/evaluate/judge_campaign.cpp - confirmation levels by index, certification, sentinels, clock coupling.
#include "harness/evaluate/judge_campaign.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge_round.h"
#include "harness/evaluate/signed_rank.h"

namespace apo {
namespace {

constexpr double kCertificationAlpha = 0.001;  // each side: a 99.8 % interval
constexpr double kRatchetAlpha = 0.005;
constexpr double kRatchetShare = 0.7;
constexpr double kSentinelAlpha = 0.001;
constexpr double kCouplingLimit = 0.005;
constexpr double kSegmentAlpha = 1.0 / 64;  // each side: the rarest that six blocks can show

bool is_segment(const Segment& segment) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  return positive(segment.seconds) && positive(segment.calls) && positive(segment.mhz);
}

double call_seconds(const Segment& segment) {
  return segment.seconds / segment.calls;
}
double call_cycles(const Segment& segment) {
  return call_seconds(segment) * segment.mhz * 1e6;
}
double clock_period(const Segment& segment) {
  return 1 / segment.mhz;
}

// Of one block of four: mean log of the incumbent's two minus mean log of the candidate's two.
double segment_contrast(std::span<const Segment> block, double (*cost)(const Segment&)) {
  double contrast = 0;
  for (const Segment& segment : block) {
    contrast += (segment.candidate ? -0.5 : 0.5) * std::log(cost(segment));
  }
  return contrast;
}

using SegmentBlock = std::array<Segment, 4>;

void check_block(const SegmentBlock& block) {
  const bool outer = block[0].candidate;
  if (!std::ranges::all_of(block, is_segment) || block[1].candidate == outer || block[2].candidate == outer ||
      block[3].candidate != outer) {
    throw UserError("segments are blocks of four in the order 0110 or 1001, with positive times, calls and clocks");
  }
}

// The blocks of each workload, in their order.
std::map<std::string, std::vector<SegmentBlock>> segment_blocks(std::span<const Segment> segments) {
  std::map<std::string, std::vector<Segment>> by_workload;
  for (const Segment& segment : segments) {
    by_workload[segment.workload].push_back(segment);
  }
  std::map<std::string, std::vector<SegmentBlock>> blocks;
  for (const auto& [workload, all] : by_workload) {
    if (all.size() % 4 != 0 || all.size() != by_workload.begin()->second.size()) {
      throw UserError("clock coupling needs whole blocks of four segments, as many of each workload, not " +
                      std::to_string(all.size()));
    }
    for (std::size_t i = 0; i < all.size(); i += 4) {
      blocks[workload].push_back({all[i], all[i + 1], all[i + 2], all[i + 3]});
      check_block(blocks[workload].back());
    }
  }
  return blocks;
}

// One value a block, the mean over the workloads.
std::vector<double> segment_effects(const std::map<std::string, std::vector<SegmentBlock>>& blocks,
                                    double (*cost)(const Segment&)) {
  std::vector<double> effects(blocks.begin()->second.size());
  for (const auto& [workload, of_workload] : blocks) {
    for (std::size_t i = 0; i < effects.size(); ++i) {
      effects[i] += segment_contrast(of_workload[i], cost) / static_cast<double>(blocks.size());
    }
  }
  return effects;
}

}  // namespace

double confirm_alpha(int index, const JudgeProfile& profile) {
  if (index < 1) {
    throw UserError("candidates are counted from 1, not " + std::to_string(index));
  }
  return profile.confirm_alpha * std::min(1.0, 50.0 / index);
}

Certification certify(const std::vector<Round>& rounds, double claimed_effect) {
  if (!std::isfinite(claimed_effect)) {
    throw UserError("the claimed effect is not a finite number");
  }
  Certification result{.claimed_effect = claimed_effect};
  std::vector<double> effects;
  for (Round round : rounds) {
    result.seconds += round.seconds;
    if (round.void_why.empty()) {
      summarise_round(round);
      effects.push_back(round.effect);
    }
  }
  if (effects.size() != static_cast<std::size_t>(kCertificationRounds)) {
    throw UserError("a certification has " + std::to_string(kCertificationRounds) + " rounds that count, not " +
                    std::to_string(effects.size()));
  }
  const WalshAverages averages(effects);
  result.effect = averages.hodges_lehmann();
  result.lower = averages.lower(kCertificationAlpha);
  result.upper = averages.upper(kCertificationAlpha);
  result.rounds = kCertificationRounds;
  result.alarm = averages.upper(kRatchetAlpha) < kRatchetShare * claimed_effect;
  return result;
}

SentinelCheck check_sentinel(std::span<const double> effects, std::span<const double> earlier_effects,
                             const JudgeProfile& profile) {
  const WalshAverages last(effects);
  std::vector<double> all(earlier_effects.begin(), earlier_effects.end());
  all.insert(all.end(), effects.begin(), effects.end());
  if (all.size() > static_cast<std::size_t>(kMaxSignedRank)) {  // the newest ones say most about today
    all.erase(all.begin(), all.end() - kMaxSignedRank);
  }
  SentinelCheck check{.effect = last.hodges_lehmann(),
                      .sd = standard_deviation(effects),
                      .p = last.two_sided_p(),
                      .pooled_p = WalshAverages(all).two_sided_p()};
  if (std::fabs(check.effect) > profile.margin && check.p < kSentinelAlpha) {
    check.why = "identical code differed by " + format_percent(check.effect) + " (p = " + format_g(check.p, 2) +
                ", n = " + std::to_string(effects.size()) + "): stop and find out why before anything is judged";
  } else if (check.pooled_p < kSentinelAlpha) {
    check.why = "over all sentinels identical code differs (p = " + format_g(check.pooled_p, 2) +
                ", n = " + std::to_string(all.size()) + "): stop and find out why before anything is judged";
  }
  check.stop = !check.why.empty();
  return check;
}

ClockCoupling check_clock_coupling(std::span<const Segment> segments) {
  const auto blocks = segment_blocks(segments);
  if (blocks.empty()) {
    throw UserError("clock coupling needs segments, and there are none");
  }
  const std::vector<double> clock_effects = segment_effects(blocks, clock_period);
  const WalshAverages times(segment_effects(blocks, call_seconds));
  const WalshAverages clocks(clock_effects);
  ClockCoupling result{.blocks = static_cast<int>(clock_effects.size()),
                       .confidence = 1 - 2 * kSegmentAlpha,
                       .time_effect = times.hodges_lehmann(),
                       .time_lower = times.lower(kSegmentAlpha),
                       .time_upper = times.upper(kSegmentAlpha),
                       .cycle_effect = WalshAverages(segment_effects(blocks, call_cycles)).hodges_lehmann(),
                       // The period is the incumbent's over the candidate's: the clock the other way round.
                       .clock_effect = clocks.hodges_lehmann(),
                       .clock_lower = clocks.lower(kSegmentAlpha),
                       .clock_upper = clocks.upper(kSegmentAlpha)};
  result.coupled =
      std::fabs(result.clock_effect) > kCouplingLimit && (result.clock_lower > 0 || result.clock_upper < 0);
  return result;
}

}  // namespace apo
