// harness/evaluate/judge/noise_levels.h - splits the spread of identical code by sample, block, round, layout, process.
#pragma once

#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// Nested rounds of identical code on one workload: a fixed number of rounds share a layout (coin, code and buffers),
// and a fixed number of layouts share a process.
struct NoiseDesign {
  int rounds_per_layout = 2;
  int layouts_per_process = 2;

  int rounds_per_process() const { return rounds_per_layout * layouts_per_process; }
};

// Standard deviations of logarithms; 0.01 is 1 %. Each is the addition of its level to the one below; a level that the
// lower ones explain is 0.
struct NoiseLevels {
  double sample = 0;        // of one timed sample within a block (robust: from the median of the absolute differences)
  double block = 0;         // of a block's contrast within a round (robust)
  double round = 0;         // of a round's effect within a layout: what its blocks leave, and what they share
  double layout = 0;        // added when code and buffers are drawn anew within a process
  double process = 0;       // added by another process
  double process_mean = 0;  // of the means of whole processes: what `process` is at most
  double total = 0;         // of a round's effect where every round has process and layout of its own
  double robust = 0;        // the same for most rounds, whatever a few of them met (from the median absolute deviation)
  int processes = 0;
};

// Uses the expected mean squares of a balanced nested design (Searle, Casella & McCulloch 1992, ch. 3), truncated at 0.
// `rounds` are in the order in which they ran; a process with a void round is left out. Throws UserError below two
// whole processes.
NoiseLevels noise_levels(const std::vector<Round>& rounds, const NoiseDesign& design);

// The standard deviation of most effects, whatever a few of them met (1.4826 times the median absolute deviation).
double robust_spread(const std::vector<double>& effects);
// The robust standard deviation of one block's contrast, over all rounds.
double block_spread(const std::vector<Round>& rounds);

}  // namespace apo
