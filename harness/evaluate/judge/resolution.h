// harness/evaluate/judge/resolution.h - the smallest effect that a machine resolves, from its noise on identical code.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// The spread of one kernel's rounds and the durations of their parts.
struct RoundCost {
  double round_sd = 0;  // of a round's effect over rounds of `blocks` blocks
  double block_sd = 0;  // of one contrast
  int blocks = 1;
  double block_s = 0;   // kernel time of a block
  double warmup_s = 0;  // kernel time before the first one
};

// Estimates them from rounds of one workload.
RoundCost cost_of(const std::vector<Round>& rounds, double round_sd);

// Returns the smallest effect that a whole comparison detects in 95 of 100 cases (minimum_detectable_effect) within so
// many seconds of kernel time, under the best of the presets and round lengths. Empty when not even the fewest rounds
// of the shortest kind fit.
std::optional<double> detectable_within(double kernel_seconds, const RoundCost& cost, LayoutControl layout);

// Returns the largest effect that identical code may appear to have: the 99 % quantile of the apparent effects, and at
// least 0.85 sd of a round's effect, which is the 99.9 % quantile of an estimate from 14 rounds. Smaller claims are
// refused.
double smallest_claim(double round_sd, std::span<const double> apparent_effects);

// Returns how many rounds may share a process (Kalibera & Jones 2013): one, unless starting a process costs more than a
// round's kernel time and at least three studies each show that the means of processes differ by less than 0.1 %.
int rounds_per_process(std::span<const NoiseLevels> studies, double start_s, const RoundCost& cost);

}  // namespace apo
