// harness/core/records/judgement.h - samples, rounds, and the judgement that follows from them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/conditions.h"
#include "harness/core/records/outcome.h"
#include "harness/core/records/round_environment.h"

namespace apo {

// One call inside a block, in nanoseconds by the worker's clock.
struct Sample {
  int slot = 0;  // 0 or 1, the neutral one; the round's coin says which arm that was
  std::int64_t ns = 0;
  bool operator==(const Sample&) const = default;
};

// Two samples of each slot, in coin order.
struct Block {
  std::vector<Sample> samples;  // 4
  bool operator==(const Block&) const = default;
};

// One workload of a round.
struct RoundWorkload {
  std::string workload;
  int repetitions = 1;  // r: calls in one sample
  std::vector<Block> warmup;
  std::vector<Block> blocks;    // K
  double effect = 0;            // d_iw = midmean of contrasts; > 0: candidate faster
  double incumbent_p90_ns = 0;  // tail guard
  double candidate_p90_ns = 0;
  double incumbent_median_ns = 0;  // of one call, for people; never used by the rule
  double candidate_median_ns = 0;
  CrossChecks checks;
  bool operator==(const RoundWorkload&) const = default;
};

struct NamedValue {
  std::string name;
  double value = 0;
  bool operator==(const NamedValue&) const = default;
};

// A fresh run of a command: its metric as the command gave it.
struct CommandRun {
  bool candidate = false;
  double value = 0;                     // of a suite the geometric mean of its benchmarks
  std::vector<NamedValue> values = {};  // of a suite: the benchmarks of this round, in the same order in all its runs
  bool operator==(const CommandRun&) const = default;
};

double geometric_mean(const std::vector<NamedValue>& values);  // of at least one, all above 0

// Runs alternate: first, other, other, first, and so on, so that both commands share a drift.
bool is_candidate_run(bool candidate_first, std::size_t index);

// Runs of two commands, equally many of each, in the order in which they ran. They take the place of blocks.
struct CommandRuns {
  std::vector<CommandRun> runs;
  bool higher_is_better = false;
  double best(bool of_candidate) const;                         // what counts; 0 where there is none
  double best(bool of_candidate, std::size_t benchmark) const;  // of a suite: of the benchmark at that place
  bool operator==(const CommandRuns&) const = default;
};

// One fresh process, or fresh runs of two commands; one number d_i.
struct Round {
  RoundStage stage = RoundStage::search;
  int index = 0;
  std::uint64_t seed = 0;
  bool candidate_in_slot0 = false;       // of two commands: the candidate ran first
  std::vector<RoundWorkload> workloads;  // none where two commands were run
  std::optional<CommandRuns> commands = {};
  double effect = 0;     // mean over workloads of effect
  std::string void_why;  // empty = counts
  double seconds = 0;    // wall time of the round
  RoundEnvironment environment;
  bool operator==(const Round&) const = default;
};

// The figures of a paired comparison. Effects are natural logs of time(incumbent)/time(candidate).
struct Judgement {
  Verdict verdict = Verdict::inconclusive;
  Reason reason = Reason::unresolved;
  std::string sentence;  // one sentence for people
  double effect = 0;     // HL of the stage that may be claimed (confirmation if it ran, else search)
  double lower = 0;      // interval of that stage
  double upper = 0;
  double confidence = 0.98;       // of that interval
  int rounds = 0;                 // valid rounds of that stage
  int processes = 0;              // fresh processes over all stages, voids included
  int samples = 0;                // timed samples over all stages
  double seconds = 0;             // wall
  double search_effect = 0;       // never quoted as a claim
  double alpha = 0;               // confirmation level that was used
  double minimum_detectable = 0;  // log effect this comparison could have resolved
  double incumbent_ns = 0;        // median of one call, geometric mean over workloads
  double candidate_ns = 0;
  std::string preset;                       // "standard", "extended", "strict", "precise", "quick"
  std::optional<CachePolicy> cache_policy;  // nullopt: of a journal that does not say
  std::string rule_version;
  double minimum_claim = 0;  // log effect below which claims were refused because of noise; 0 = none

  double speedup() const { return std::exp(effect); }
  double speedup_lower() const { return std::exp(lower); }
  double speedup_upper() const { return std::exp(upper); }
  bool operator==(const Judgement&) const = default;
};

}  // namespace apo
