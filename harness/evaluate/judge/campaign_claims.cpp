// harness/evaluate/judge/campaign_claims.cpp - confirmation levels by index, certification, sentinels, clock coupling.
#include "harness/evaluate/judge/campaign_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

constexpr double kCertificationAlpha = 0.001;  // each side: a 99.8 % interval
constexpr double kRatchetAlpha = 0.005;
constexpr double kRatchetShare = 0.7;
constexpr double kSentinelAlpha = 0.001;
constexpr double kPooledShare = 0.5;  // of the margin: a smaller bias makes no accept, which has to clear the margin
constexpr const char* kFindOutWhy = "stop and find out why before anything is judged";
constexpr double kCouplingLimit = 0.005;
constexpr double kSoloRunAlpha = 1.0 / 64;  // each side: the rarest that six blocks can show

bool is_solo_run(const SoloRun& solo_run) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  return positive(solo_run.seconds) && positive(solo_run.calls) && positive(solo_run.mhz);
}

double call_seconds(const SoloRun& solo_run) {
  return solo_run.seconds / solo_run.calls;
}
double call_cycles(const SoloRun& solo_run) {
  return call_seconds(solo_run) * solo_run.mhz * 1e6;
}
double clock_period(const SoloRun& solo_run) {
  return 1 / solo_run.mhz;
}

// Of one block of four: mean log of the incumbent's two minus mean log of the candidate's two.
double solo_run_contrast(std::span<const SoloRun> block, double (*cost)(const SoloRun&)) {
  double contrast = 0;
  for (const SoloRun& solo_run : block) {
    contrast += (solo_run.candidate ? -0.5 : 0.5) * std::log(cost(solo_run));
  }
  return contrast;
}

using SoloRunBlock = std::array<SoloRun, 4>;

void check_block(const SoloRunBlock& block) {
  const bool outer = block[0].candidate;
  if (!std::ranges::all_of(block, is_solo_run) || block[1].candidate == outer || block[2].candidate == outer ||
      block[3].candidate != outer) {
    throw UserError("solo runs are blocks of four in the order 0110 or 1001, with positive times, calls and clocks");
  }
}

// The blocks of each workload, in their order.
std::map<std::string, std::vector<SoloRunBlock>> solo_run_blocks(std::span<const SoloRun> solo_runs) {
  std::map<std::string, std::vector<SoloRun>> by_workload;
  for (const SoloRun& solo_run : solo_runs) {
    by_workload[solo_run.workload].push_back(solo_run);
  }
  std::map<std::string, std::vector<SoloRunBlock>> blocks;
  for (const auto& [workload, all] : by_workload) {
    if (all.size() % 4 != 0 || all.size() != by_workload.begin()->second.size()) {
      throw UserError(fmt::format(
          "clock coupling needs whole blocks of four solo runs, as many of each workload, not {}", all.size()));
    }
    for (std::size_t i = 0; i < all.size(); i += 4) {
      blocks[workload].push_back({all[i], all[i + 1], all[i + 2], all[i + 3]});
      check_block(blocks[workload].back());
    }
  }
  return blocks;
}

// One value a block, the mean over the workloads.
std::vector<double> solo_run_effects(const std::map<std::string, std::vector<SoloRunBlock>>& blocks,
                                     double (*cost)(const SoloRun&)) {
  std::vector<double> effects(blocks.begin()->second.size());
  for (const auto& [workload, of_workload] : blocks) {
    for (std::size_t i = 0; i < effects.size(); ++i) {
      effects[i] += solo_run_contrast(of_workload[i], cost) / static_cast<double>(blocks.size());
    }
  }
  return effects;
}

}  // namespace

double confirm_alpha(int index, const JudgePreset& preset) {
  if (index < 1) {
    throw UserError(fmt::format("candidates are counted from 1, not {}", index));
  }
  return preset.confirm_alpha * std::min(1.0, 50.0 / index);
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
    throw UserError(
        fmt::format("a certification has {} rounds that count, not {}", kCertificationRounds, effects.size()));
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
                             const JudgePreset& preset) {
  const WalshAverages last(effects);
  std::vector<double> all(earlier_effects.begin(), earlier_effects.end());
  all.insert(all.end(), effects.begin(), effects.end());
  if (all.size() > static_cast<std::size_t>(kMaxSignedRank)) {  // the newest ones say most about today
    all.erase(all.begin(), all.end() - kMaxSignedRank);
  }
  const WalshAverages pooled(all);
  SentinelCheck check{.effect = last.hodges_lehmann(),
                      .sd = standard_deviation(effects),
                      .p = last.two_sided_p(),
                      .pooled_p = pooled.two_sided_p()};
  if (std::fabs(check.effect) > preset.margin && check.p < kSentinelAlpha) {
    check.why = fmt::format("identical code differed by {} (p = {}, n = {}): {}", format_percent(check.effect),
                            format_g(check.p, 2), effects.size(), kFindOutWhy);
  } else if (std::fabs(pooled.hodges_lehmann()) > kPooledShare * preset.margin && check.pooled_p < kSentinelAlpha) {
    check.why =
        fmt::format("over all sentinels identical code differs by {} (p = {}, n = {}): {}",
                    format_percent(pooled.hodges_lehmann()), format_g(check.pooled_p, 2), all.size(), kFindOutWhy);
  }
  check.stop = !check.why.empty();
  return check;
}

BaselineClaim check_baseline_claim(double claimed_effect, std::span<const double> candidate,
                                   std::span<const double> incumbent) {
  const auto interval_of = [](std::span<const double> effects) {
    const WalshAverages averages(effects);
    return EffectInterval{averages.hodges_lehmann(), averages.lower(kCertificationAlpha),
                          averages.upper(kCertificationAlpha)};
  };
  std::vector<double> between;
  std::ranges::transform(candidate, incumbent, std::back_inserter(between), std::minus<>());
  return {.candidate = interval_of(candidate),
          .incumbent = interval_of(incumbent),
          .holds = WalshAverages(between).upper(kRatchetAlpha) >= kRatchetShare * claimed_effect};
}

std::string baseline_sentence(const BaselineClaim& claim, const std::string& candidate, const std::string& baseline,
                              double claimed_speedup) {
  const auto ratio = [](const EffectInterval& interval) {
    return format_effect(interval.effect, interval.lower, interval.upper);
  };
  if (!claim.holds) {
    return fmt::format(
        "The gain did not come back against the family's baseline {}: the candidate is {} of that and the incumbent "
        "{}, where {} was found between the two (n={}).",
        baseline, ratio(claim.candidate), ratio(claim.incumbent), format_ratio(claimed_speedup), kBaselineRounds);
  }
  const std::string slow =
      claim.incumbent.upper < 0 ? "; the incumbent itself is slower than that: " + ratio(claim.incumbent) : "";
  return candidate == baseline ? fmt::format("It is the family's own baseline{}.", slow)
                               : fmt::format("Against the family's baseline {} it is {} (n={}){}.", baseline,
                                             ratio(claim.candidate), kBaselineRounds, slow);
}

ClockCoupling check_clock_coupling(std::span<const SoloRun> solo_runs) {
  const auto blocks = solo_run_blocks(solo_runs);
  if (blocks.empty()) {
    throw UserError("clock coupling needs solo runs, and there are none");
  }
  const std::vector<double> clock_effects = solo_run_effects(blocks, clock_period);
  const WalshAverages times(solo_run_effects(blocks, call_seconds));
  const WalshAverages clocks(clock_effects);
  ClockCoupling result{.blocks = static_cast<int>(clock_effects.size()),
                       .confidence = 1 - 2 * kSoloRunAlpha,
                       .time_effect = times.hodges_lehmann(),
                       .time_lower = times.lower(kSoloRunAlpha),
                       .time_upper = times.upper(kSoloRunAlpha),
                       .cycle_effect = WalshAverages(solo_run_effects(blocks, call_cycles)).hodges_lehmann(),
                       // The period is the incumbent's over the candidate's: the clock the other way round.
                       .clock_effect = clocks.hodges_lehmann(),
                       .clock_lower = clocks.lower(kSoloRunAlpha),
                       .clock_upper = clocks.upper(kSoloRunAlpha)};
  result.coupled =
      std::fabs(result.clock_effect) > kCouplingLimit && (result.clock_lower > 0 || result.clock_upper < 0);
  return result;
}

}  // namespace apo
