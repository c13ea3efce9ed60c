// harness/evaluate/judge/noise_levels.cpp - nested mean squares over round effects, robust spreads inside rounds.
#include "harness/evaluate/judge/noise_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "harness/core/error.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

constexpr double kMadToSd = 1.4826;  // makes the MAD estimate sigma for normal data (Iglewicz & Hoaglin 1993)

double robust_sd(std::vector<double> deviations) {
  if (deviations.empty()) {
    return 0;
  }
  std::transform(deviations.begin(), deviations.end(), deviations.begin(),
                 [](double value) { return std::fabs(value); });
  return kMadToSd * median(std::move(deviations));
}

// The slots of identical code against each other: what a slot keeps from round to round shows, the coin does not.
double slot_effect(const Round& round) {
  return round.candidate_in_slot0 ? round.effect : -round.effect;
}

double sample_spread(const std::vector<Round>& rounds) {
  std::vector<double> differences;
  for (const Round& round : rounds) {
    for (const Block& block : round.workloads.front().blocks) {
      const auto log_ns = [&block](std::size_t i) { return std::log(static_cast<double>(block.samples.at(i).ns)); };
      differences.push_back((log_ns(0) - log_ns(3)) / std::numbers::sqrt2);
      differences.push_back((log_ns(1) - log_ns(2)) / std::numbers::sqrt2);
    }
  }
  return robust_sd(std::move(differences));
}

// Means of every `size` values in a row, and the sum of squares of the values round them.
std::vector<double> group_means(const std::vector<double>& values, int size, double& squares) {
  std::vector<double> means;
  squares = 0;
  for (auto at = values.begin(); at != values.end(); at += size) {
    const std::vector<double> group(at, at + size);
    means.push_back(mean(group));
    for (const double value : group) {
      squares += (value - means.back()) * (value - means.back());
    }
  }
  return means;
}

std::vector<double> whole_processes(const std::vector<Round>& rounds, int size) {
  std::vector<double> effects;
  for (auto at = rounds.begin(); rounds.end() - at >= size; at += size) {
    if (std::all_of(at, at + size, [](const Round& round) { return round.void_why.empty(); })) {
      std::transform(at, at + size, std::back_inserter(effects), slot_effect);
    }
  }
  return effects;
}

std::vector<double> deviations_from_median(std::vector<double> values) {
  const double centre = median(values);
  for (double& value : values) {
    value -= centre;
  }
  return values;
}

double root_of_share(double mean_square, double explained, double size) {
  return std::sqrt(std::max(0.0, (mean_square - explained) / size));
}

}  // namespace

double robust_spread(const std::vector<double>& effects) {
  return robust_sd(deviations_from_median(effects));
}

double block_spread(const std::vector<Round>& rounds) {
  std::vector<double> deviations;
  for (const Round& round : rounds) {
    const std::vector<Block>& blocks = round.workloads.front().blocks;
    for (std::size_t i = 1; i < blocks.size();
         ++i) {  // neighbours: what drifts over a round is no spread of its blocks
      deviations.push_back((block_contrast(blocks[i], round.candidate_in_slot0) -
                            block_contrast(blocks[i - 1], round.candidate_in_slot0)) /
                           std::numbers::sqrt2);
    }
  }
  return robust_sd(std::move(deviations));
}

NoiseLevels noise_levels(const std::vector<Round>& rounds, const NoiseDesign& design) {
  const int each = design.rounds_per_process();
  const std::vector<double> effects = whole_processes(rounds, each);
  const auto processes = static_cast<int>(effects.size()) / each;
  if (processes < 2) {
    throw UserError(
        fmt::format("the noise of this machine needs two processes without a void round, not {}", processes));
  }
  double within_layouts = 0;
  double within_processes = 0;
  double between_processes = 0;
  const std::vector<double> layouts = group_means(effects, design.rounds_per_layout, within_layouts);
  const std::vector<double> means = group_means(layouts, design.layouts_per_process, within_processes);
  group_means(means, processes, between_processes);
  const double round_degrees = processes * design.layouts_per_process * (design.rounds_per_layout - 1);
  const double layout_degrees = processes * (design.layouts_per_process - 1);
  const double round_square = round_degrees > 0 ? within_layouts / round_degrees : 0;
  const double layout_square =
      layout_degrees > 0 ? design.rounds_per_layout * within_processes / layout_degrees : round_square;
  const double process_square = each * between_processes / (processes - 1);

  NoiseLevels levels{.sample = sample_spread(rounds), .block = block_spread(rounds), .round = std::sqrt(round_square)};
  levels.layout = root_of_share(layout_square, round_square, design.rounds_per_layout);
  levels.process = root_of_share(process_square, layout_square, each);
  levels.process_mean = std::sqrt(between_processes / (processes - 1));
  levels.total = std::hypot(levels.round, levels.layout, levels.process);
  levels.robust = robust_spread(effects);
  levels.processes = processes;
  return levels;
}

}  // namespace apo
