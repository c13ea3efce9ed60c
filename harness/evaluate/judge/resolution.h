// harness/evaluate/judge/resolution.h - the smallest effect that a machine resolves, from its noise on identical code.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// How the rounds of one kernel spread and how long their parts take.
struct RoundCost {
  double round_sd = 0;  // of a round's effect over rounds of `blocks` blocks
  double block_sd = 0;  // of one contrast
  int blocks = 1;
  double block_s = 0;     // kernel time of a block
  double warmup_s = 0;    // kernel time before the first one
  double overhead_s = 0;  // of a round, that is no kernel time: process, tensors, flushes
};

// Of rounds of one workload, without their overhead.
RoundCost cost_of(const std::vector<Round>& rounds, double round_sd);

// The smallest effect that a whole comparison detects in 95 of 100 cases (minimum_detectable_effect) within so many
// seconds of kernel time, under whichever of the presets and lengths of a round does it best. Empty: not even the
// fewest rounds of the shortest kind fit.
std::optional<double> detectable_within(double kernel_seconds, const RoundCost& cost, LayoutControl layout);

// The largest effect that identical code may seem to have: the 99 % quantile of the apparent effects, and at least
// 0.85 sd of a round's effect, which is the 99.9 % quantile of an estimate from 14 rounds. A claim below it is refused.
double smallest_claim(double round_sd, std::span<const double> apparent_effects);

// How many rounds may share a process (Kalibera & Jones 2013): one, unless starting a process costs more than a round's
// kernel time and at least three studies each show that the means of processes differ by less than 0.1 %.
int rounds_per_process(std::span<const NoiseLevels> studies, double start_s, const RoundCost& cost);

}  // namespace apo
