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

// H(campaign, comparison, stage, i). One-way, so that no round tells anything about another.
std::uint64_t round_seed(std::uint64_t campaign_seed, std::string_view comparison, RoundStage stage, int index);

// What chance decides in one round. Only `order_seed` may reach the child: nothing in it, nor anything that can be
// computed from it, tells which slot holds the candidate.
struct RoundDraw {
  bool candidate_in_slot0 = false;
  std::uint64_t order_seed = 0;
  std::vector<int> workload_order;  // in which the workloads are measured
};
RoundDraw draw_round(std::uint64_t seed, int workloads);

enum class BlockKind : std::uint8_t { warmup, timed };
// 0110 or 1001: the slot of each of the four runs.
std::array<int, 4> block_slots(std::uint64_t order_seed, BlockKind kind, int workload, int block);

// Throws UserError when the recorded coin is not the one that the recorded seed gives.
void check_coin(const Round& round);

// ---------------------------------------------------------------- label-blind rules, while the round runs

// r: how often the kernel runs in one sample; the same for both slots, fixed in round 1. `call_ns` is the shortest call
// of either slot. Flushing the cache before every sample forces 1.
int repetitions(double call_ns, double timer_resolution_ns, Target target, bool flush_before_sample);
// Whether the warm-up may stop. The largest number of blocks binds only once the least time has passed, because an
// idle device needs time, not calls, to raise its clock: the time of the samples, or `busy_s` where more is known.
bool is_warm(const std::vector<Block>& warmup, const JudgePreset& preset, double busy_s = 0);
// K, from the time that the warm-up took.
int block_count(const std::vector<Block>& warmup, const JudgePreset& preset);

// What a round took of itself: how long a process needs to start says nothing about what it measures.
double busy_seconds(const Round& round);
std::vector<double> busy_seconds(std::span<const Round> rounds);
// How many processes these rounds had.
int processes_of(std::span<const Round> rounds);
// Why the round does not count, from whole-round evidence alone; "" when it counts. `earlier_seconds`: what the rounds
// of this comparison took of themselves so far.
std::string void_reason(const Round& round, std::span<const double> earlier_seconds, const JudgePreset& preset);

// ---------------------------------------------------------------- the numbers, after the round

// ln(faster of the incumbent's two runs) - ln(faster of the candidate's two): > 0 means that the candidate is faster.
// Throws UserError unless the block is 0110 or 1001 with positive times.
double block_contrast(const Block& block, bool candidate_in_slot0);
// What one call of each arm typically takes, by the statistic of the effect: of each block the better of the two
// samples, of the blocks the midmean of the logarithms. Middle calls would not do beside an effect: who is fast in one
// sample of each block has all of the effect and none of the median.
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
// Fills every computed field of the workloads and the round's effect (mean over workloads) from the raw samples.
// Throws UserError, with the place, when a sample can't be a time.
void summarise_round(Round& round);

}  // namespace apo
