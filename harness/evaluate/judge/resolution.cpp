// harness/evaluate/judge/resolution.cpp - inverts the judge's formula: from seconds to the effect they resolve.
#include "harness/evaluate/judge/resolution.h"

#include <algorithm>
#include <cmath>

#include "harness/evaluate/judge/decision.h"

namespace apo {
namespace {

// The variance of a midmean of normal values over that of their mean: its efficiency is 0.84 (Tukey 1977).
constexpr double kMidmeanVariance = 1 / 0.84;
constexpr double kQuietProcess = 0.001;
constexpr std::size_t kStudies = 3;
constexpr double kMostRounds = 14;
constexpr double kClaimPerSd = 0.85;

double mean_of(const std::vector<Round>& rounds, double (*value)(const Round&)) {
  double sum = 0;
  for (const Round& round : rounds) {
    sum += value(round);
  }
  return sum / static_cast<double>(rounds.size());
}

double seconds_of(const std::vector<Block>& blocks) {
  double ns = 0;
  for (const Block& block : blocks) {
    for (const Sample& sample : block.samples) {
      ns += static_cast<double>(sample.ns);
    }
  }
  return 1e-9 * ns;
}

double sd_with(const RoundCost& cost, double blocks) {
  const double of_blocks = kMidmeanVariance * cost.block_sd * cost.block_sd;
  const double between = std::max(0.0, cost.round_sd * cost.round_sd - of_blocks / cost.blocks);
  return std::sqrt(between + of_blocks / blocks);
}

// With the looks up to this one; empty where their rounds do not fit.
std::optional<double> detectable_by(std::size_t look, JudgePreset preset, double seconds, const RoundCost& cost,
                                    LayoutControl layout) {
  preset.looks.resize(look + 1);
  const auto rounds_with = [&](double confirm) { return preset.looks.back().rounds + confirm; };
  double confirm = preset.confirm_min;
  for (int step = 0; step < 2; ++step) {  // the spread follows from the rounds, and their number from the spread
    const double round_s = std::min(preset.round_s, seconds / rounds_with(confirm));
    const double blocks = std::floor((round_s - cost.warmup_s) / cost.block_s);
    if (blocks < preset.blocks_min) {
      return std::nullopt;
    }
    const double sd = sd_with(cost, std::min<double>(blocks, preset.blocks_max));
    if (preset.name == precise_preset().name && choose_preset(sd, layout).name != preset.name) {
      return std::nullopt;
    }
    const double needed = std::ceil(std::pow(preset.confirm_factor * sd / preset.design_effect, 2));
    confirm = std::clamp<double>(needed, preset.confirm_min, preset.confirm_max);
    if (step == 1) {
      preset.confirm_max = static_cast<int>(confirm);
      return minimum_detectable_effect(preset, preset.confirm_alpha, sd);
    }
  }
  return std::nullopt;
}

}  // namespace

RoundCost cost_of(const std::vector<Round>& rounds, double round_sd) {
  RoundCost cost{.round_sd = round_sd, .block_sd = block_spread(rounds)};
  cost.warmup_s = mean_of(rounds, [](const Round& round) { return seconds_of(round.workloads.front().warmup); });
  const double blocks =
      mean_of(rounds, [](const Round& round) { return static_cast<double>(round.workloads.front().blocks.size()); });
  const double timed_s = mean_of(rounds, [](const Round& round) { return seconds_of(round.workloads.front().blocks); });
  cost.blocks = std::max(1, static_cast<int>(std::lround(blocks)));
  cost.block_s = timed_s / blocks;
  return cost;
}

std::optional<double> detectable_within(double kernel_seconds, const RoundCost& cost, LayoutControl layout) {
  std::optional<double> best;
  for (JudgePreset preset : {standard_preset(), extended_preset(), precise_preset()}) {
    // Shortest kind: a kernel that is slow takes the fewest blocks, whatever the preset plans.
    preset.round_s = std::max(preset.round_s, cost.warmup_s + preset.blocks_min * cost.block_s);
    for (std::size_t look = 0; look < preset.looks.size(); ++look) {
      const auto effect = detectable_by(look, preset, kernel_seconds, cost, layout);
      best = effect && (!best || *effect < *best) ? effect : best;
    }
  }
  return best;
}

double smallest_claim(double round_sd, std::span<const double> apparent_effects) {
  std::vector<double> sizes;
  std::transform(apparent_effects.begin(), apparent_effects.end(), std::back_inserter(sizes),
                 [](double effect) { return std::fabs(effect); });
  std::sort(sizes.begin(), sizes.end());
  const std::size_t rank = (99 * sizes.size() + 99) / 100;  // nearest rank: ceil(0.99 n)
  return std::max(kClaimPerSd * round_sd, sizes.empty() ? 0.0 : sizes[rank - 1]);
}

int rounds_per_process(std::span<const NoiseLevels> studies, double start_s, const RoundCost& cost) {
  const double kernel_s = cost.warmup_s + cost.blocks * cost.block_s;
  if (start_s <= kernel_s || studies.size() < kStudies ||
      !std::all_of(studies.begin(), studies.end(),
                   [](const NoiseLevels& study) { return study.process_mean < kQuietProcess; })) {
    return 1;
  }
  double process = 1e-5;  // no machine is better known than that
  for (const NoiseLevels& study : studies) {
    process = std::max(process, study.process);
  }
  const double blocks = std::sqrt((start_s + cost.warmup_s) / cost.block_s) * cost.block_sd / process;
  return static_cast<int>(std::clamp(blocks / cost.blocks, 1.0, kMostRounds));
}

}  // namespace apo
