// harness/evaluate/judge/round.h - one round: its coins, warm-up and blocks, and the effect computed from them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// ---------------------------------------------------------------- coins, before the round

// Hashes campaign, comparison, stage and i. One-way, so that no round reveals anything about another.
std::uint64_t round_seed(std::uint64_t campaign_seed, std::string_view comparison, RoundStage stage, int index);

// The random choices of one round. Only `order_seed` may reach the child: neither it nor anything computed from it
// reveals which slot holds the candidate.
struct RoundDraw {
  bool candidate_in_slot0 = false;
  std::uint64_t order_seed = 0;
  std::vector<int> workload_order;  // in which the workloads are measured
};
RoundDraw draw_round(std::uint64_t seed, int workloads);

enum class BlockKind : std::uint8_t { warmup, timed };
// Returns 0110 or 1001: the slot of each of the four runs.
std::array<int, 4> block_slots(std::uint64_t order_seed, BlockKind kind, int workload, int block);

// Throws UserError when the recorded seed does not give the recorded coin.
void check_coin(const Round& round);

// ---------------------------------------------------------------- label-blind rules, while the round runs

// Decides whether the warm-up may stop. The limit on blocks binds only after the least time has passed, because an idle
// device needs time, not calls, to raise its clock. That time is the time of the samples, or `busy_s` where more is
// known.
bool is_warm(const std::vector<Block>& warmup, const JudgePreset& preset, double busy_s = 0);
// Returns K, from the duration of the warm-up.
int block_count(const std::vector<Block>& warmup, const JudgePreset& preset);

// Returns the duration of a round without the start of its process, which says nothing about the measurement.
double busy_seconds(const Round& round);
std::vector<double> busy_seconds(std::span<const Round> rounds);
// Counts the processes of these rounds.
int processes_of(std::span<const Round> rounds);
// Gives the reason why the round does not count, from whole-round evidence alone; "" when it counts. `earlier_seconds`
// are the durations of this comparison's earlier rounds without process starts.
std::string void_reason(const Round& round, std::span<const double> earlier_seconds, const JudgePreset& preset);

// ---------------------------------------------------------------- the numbers, after the round

// Whether a call of the incumbent is so long that a round on a host has the fewest blocks, behind one untimed call of
// each arm.
bool is_long_call(const JudgePreset& preset, double call_s);
// Whether a round that counts has a workload of long calls: on a host, without a block that warms up.
bool counts_long_calls(const Round& round);
// Whether the incumbent's least call of such a round took less than half of that: a burst while the round was planned
// made it look long, and such rounds have too few calls.
bool turned_out_short(const RoundWorkload& workload, bool candidate_in_slot0, const JudgePreset& preset);
// Returns ln(faster of the incumbent's two runs) - ln(faster of the candidate's two): > 0 means that the candidate is
// faster. Throws UserError unless the block is 0110 or 1001 with positive times.
double block_contrast(const Block& block, bool candidate_in_slot0);
// The typical time of one call of each arm, by the statistic of the effect: the better of the two samples of
// each block, and over the blocks the midmean of the logarithms. A median of calls would contradict the effect: being
// fast in one sample of each block moves this statistic fully and the median not at all.
struct TypicalCalls {
  double incumbent_ns = 0;
  double candidate_ns = 0;
};
TypicalCalls typical_calls(const RoundWorkload& workload, bool candidate_in_slot0);
// > 0 means that the candidate is better. Throws UserError unless all metrics are positive numbers, as
// many of the one as of the other.
double effect_of(const CommandRuns& runs);
// Mean after dropping floor(n / 4) values at each end; at least one value.
double midmean(std::vector<double> values);
// Fills every computed field of the workloads and the round's effect (mean over workloads) from the raw samples. Throws
// UserError, with the place, when a sample cannot be a time.
void summarise_round(Round& round);

}  // namespace apo
