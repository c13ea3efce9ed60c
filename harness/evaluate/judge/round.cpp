// harness/evaluate/judge/round.cpp - coins, warm-up, void rules, block contrasts and their robust centre.
#include "harness/evaluate/judge/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "kernels/random.h"

namespace apo {
namespace {

// The first 64 bits of SHA-256: who knows the result can't go back to what it was made from.
std::uint64_t one_way(const std::vector<std::string>& parts) {
  return std::stoull(sha256_of_parts(parts).substr(0, 16), nullptr, 16);
}

[[noreturn]] void damaged(const std::string& what) {
  throw UserError(what, "the timing data are damaged: measure this comparison again");
}

double block_ns(const Block& block) {
  double sum = 0;
  for (const Sample& sample : block.samples) {
    if (sample.ns <= 0) {
      damaged(fmt::format("a sample of {} ns is not a time", sample.ns));
    }
    sum += static_cast<double>(sample.ns);
  }
  return sum;
}

double total_seconds(const std::vector<Block>& blocks) {
  double sum = 0;
  for (const Block& block : blocks) {
    sum += block_ns(block);
  }
  return sum * 1e-9;
}

bool is_ordered(const Block& block) {
  if (block.samples.size() != 4) {
    return false;
  }
  const int first = block.samples[0].slot;
  return (first == 0 || first == 1) && block.samples[1].slot == 1 - first && block.samples[2].slot == 1 - first &&
         block.samples[3].slot == first;
}

double reading(const std::optional<double>& value, double otherwise) {
  if (value && !(*value >= 0 && *value <= 1e15)) {  // this form also catches NaN
    damaged(fmt::format("{} is not a reading of the machine", *value));
  }
  return value.value_or(otherwise);
}

std::string name_of(const Round& round) {
  return fmt::format("{} round {}", to_string(round.stage), round.index);
}

struct Arms {
  std::vector<double> incumbent;  // ns of one call
  std::vector<double> candidate;
};

Arms call_times(const RoundWorkload& workload, bool candidate_in_slot0) {
  Arms arms;
  for (const Block& block : workload.blocks) {
    for (const Sample& sample : block.samples) {
      const bool is_candidate = (sample.slot == 0) == candidate_in_slot0;
      (is_candidate ? arms.candidate : arms.incumbent).push_back(static_cast<double>(sample.ns) / workload.repetitions);
    }
  }
  return arms;
}

double p90(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t rank = (9 * values.size() + 9) / 10;  // nearest rank: ceil(0.9 n)
  return values[rank - 1];
}

void summarise_workload(RoundWorkload& workload, bool candidate_in_slot0) {
  if (workload.blocks.empty() || workload.repetitions < 1) {
    damaged("no timed block, or no call in a sample");
  }
  std::vector<double> contrasts;
  contrasts.reserve(workload.blocks.size());
  for (const Block& block : workload.blocks) {
    contrasts.push_back(block_contrast(block, candidate_in_slot0));
  }
  workload.effect = midmean(std::move(contrasts));
  const Arms arms = call_times(workload, candidate_in_slot0);
  workload.incumbent_p90_ns = p90(arms.incumbent);
  workload.candidate_p90_ns = p90(arms.candidate);
  workload.incumbent_median_ns = median(arms.incumbent);
  workload.candidate_median_ns = median(arms.candidate);
}

}  // namespace

std::uint64_t round_seed(std::uint64_t campaign_seed, std::string_view comparison, RoundStage stage, int index) {
  return one_way(
      {std::to_string(campaign_seed), std::string(comparison), std::string(to_string(stage)), std::to_string(index)});
}

RoundDraw draw_round(std::uint64_t seed, int workloads) {
  Random random(derive_seed(seed, "round"));
  RoundDraw draw;
  draw.candidate_in_slot0 = random.coin();
  draw.order_seed = one_way({"order", std::to_string(seed)});
  draw.workload_order.resize(static_cast<std::size_t>(workloads));
  std::iota(draw.workload_order.begin(), draw.workload_order.end(), 0);
  shuffle(draw.workload_order, random);
  return draw;
}

std::array<int, 4> block_slots(std::uint64_t order_seed, BlockKind kind, int workload, int block) {
  const auto place = (static_cast<std::uint64_t>(workload) << 32) | static_cast<std::uint64_t>(block);
  const int first =
      (derive_seed(order_seed, kind == BlockKind::warmup ? "warm-up" : "timed", place) >> 63) != 0 ? 1 : 0;
  return {first, 1 - first, 1 - first, first};
}

void check_coin(const Round& round) {
  if (draw_round(round.seed, static_cast<int>(round.workloads.size())).candidate_in_slot0 != round.candidate_in_slot0) {
    throw UserError("the coin of " + name_of(round) + " is not the one that its seed gives",
                    "the record was changed after it was written; measure the comparison again");
  }
}

bool is_warm(const std::vector<Block>& warmup, const JudgePreset& preset, double busy_s) {
  const auto blocks = static_cast<int>(warmup.size());
  if (blocks < preset.warmup_min_blocks || blocks < 2 ||
      (busy_s < preset.warmup_min_s && total_seconds(warmup) < preset.warmup_min_s)) {
    return false;
  }
  double least = block_ns(warmup.front());
  for (const Block& block : warmup) {
    least = std::min(least, block_ns(block));
  }
  const double last = block_ns(warmup.back());
  const double before = block_ns(warmup[warmup.size() - 2]);
  const bool steady = std::fabs(last / before - 1) < preset.warmup_change && last < preset.warmup_spread * least;
  return steady || blocks >= preset.warmup_max_blocks;
}

int block_count(const std::vector<Block>& warmup, const JudgePreset& preset) {
  if (warmup.empty() || warmup.back().samples.size() != 4) {
    damaged("the number of blocks follows from a warm-up, and there was none");
  }
  const double block_s = block_ns(warmup.back()) * 1e-9;
  const double count = std::floor((preset.round_s - total_seconds(warmup)) / block_s);
  return static_cast<int>(
      std::clamp(count, static_cast<double>(preset.blocks_min), static_cast<double>(preset.blocks_max)));
}

int processes_of(std::span<const Round> rounds) {
  return std::accumulate(rounds.begin(), rounds.end(), 0, [](int sum, const Round& round) {
    return sum + (round.environment.same_process      ? 0
                  : round.commands                    ? static_cast<int>(round.commands->runs.size())
                  : round.environment.empty_window_ns ? 2  // one an arm
                                                      : 1);
  });
}

double busy_seconds(const Round& round) {
  return round.seconds - reading(round.environment.start_wait_s, 0);
}

std::vector<double> busy_seconds(std::span<const Round> rounds) {
  std::vector<double> seconds;
  std::transform(rounds.begin(), rounds.end(), std::back_inserter(seconds),
                 [](const Round& round) { return busy_seconds(round); });
  return seconds;
}

bool is_long_call(const JudgePreset& preset, double call_s) {
  constexpr int kWindowsOfBlock = 2;  // of an arm
  return kWindowsOfBlock * (1 + preset.window_blocks_min) * call_s > preset.long_round_s;
}

bool turned_out_short(const RoundWorkload& workload, bool candidate_in_slot0, const JudgePreset& preset) {
  const std::vector<double> incumbent = call_times(workload, candidate_in_slot0).incumbent;
  return !incumbent.empty() && !is_long_call(preset, 2e-9 * *std::ranges::min_element(incumbent));
}

namespace {

// Without a block that warms up: on a host, where calls are long.
bool has_long_calls(const Round& round, const RoundWorkload& workload) {
  return round.environment.empty_window_ns && workload.warmup.empty();
}

}  // namespace

bool counts_long_calls(const Round& round) {
  return round.void_why.empty() && std::ranges::any_of(round.workloads, [&](const RoundWorkload& workload) {
           return has_long_calls(round, workload);
         });
}

namespace {

// What the calls took of a round whose calls are long. A slow one may be the candidate's: a round that is void for it
// would hide it.
double seconds_of_long_calls(const Round& round) {
  double seconds = 0;
  for (const RoundWorkload& workload : round.workloads) {
    seconds += has_long_calls(round, workload) ? total_seconds(workload.blocks) : 0;
  }
  return seconds;
}

// What two commands that take milliseconds may wait for a CPU says nothing about the machine.
constexpr double kStartSlackS = 0.5;

}  // namespace

std::string void_reason(const Round& round, std::span<const double> earlier_seconds, const JudgePreset& preset) {
  // Hardware slowdown, software thermal, hardware thermal, power brake (nvml.h, nvmlClocksEventReason*).
  constexpr std::uint64_t kSlowdown = 0x8 | 0x20 | 0x40 | 0x80;
  if (!std::isfinite(round.seconds) || round.seconds < 0) {
    damaged(fmt::format("round {} took no time that makes sense", round.index));
  }
  const RoundEnvironment& environment = round.environment;
  if (const std::uint64_t bits = environment.throttle_bits.value_or(0) & kSlowdown; bits != 0) {
    return fmt::format("the device slowed itself down (clock event bits {})", bits);
  }
  const double before = reading(environment.sm_mhz_before, 0);
  const double after = reading(environment.sm_mhz_after, before);
  if (before > 0 && std::fabs(after / before - 1) > preset.clock_change) {
    return "the clock went from " + format_g(before) + " to " + format_g(after) + " MHz";
  }
  for (const RoundWorkload& workload : round.workloads) {
    if (has_long_calls(round, workload) && turned_out_short(workload, round.candidate_in_slot0, preset)) {
      return "calls of " + workload.workload + " turned out too short for a round of so few";
    }
  }
  if (earlier_seconds.size() >= 3) {  // below three there is no usual time yet
    const double usual = median({earlier_seconds.begin(), earlier_seconds.end()});
    const double slack = round.commands ? kStartSlackS : 0;
    const double took = busy_seconds(round) - seconds_of_long_calls(round);
    if (usual > 0 && took > preset.slow_round * usual + slack) {
      return "it took " + format_seconds(took) + ", the median round " + format_seconds(usual);
    }
  }
  return "";
}

double block_contrast(const Block& block, bool candidate_in_slot0) {
  if (!is_ordered(block)) {
    damaged("a block is not four samples in the order 0110 or 1001");
  }
  block_ns(block);  // refuses what is not a time
  const int first = block.samples[0].slot;
  const auto outer = static_cast<double>(std::min(block.samples[0].ns, block.samples[3].ns));
  const auto inner = static_cast<double>(std::min(block.samples[1].ns, block.samples[2].ns));
  const bool candidate_outside = (first == 0) == candidate_in_slot0;
  return candidate_outside ? std::log(inner) - std::log(outer) : std::log(outer) - std::log(inner);
}

TypicalCalls typical_calls(const RoundWorkload& workload, bool candidate_in_slot0) {
  std::vector<double> incumbent;
  std::vector<double> candidate;
  for (const Block& block : workload.blocks) {
    if (!is_ordered(block)) {
      damaged("a block is not four samples in the order 0110 or 1001");
    }
    block_ns(block);  // refuses what is not a time
    const auto outer = static_cast<double>(std::min(block.samples[0].ns, block.samples[3].ns));
    const auto inner = static_cast<double>(std::min(block.samples[1].ns, block.samples[2].ns));
    const bool candidate_outside = (block.samples[0].slot == 0) == candidate_in_slot0;
    candidate.push_back(std::log((candidate_outside ? outer : inner) / workload.repetitions));
    incumbent.push_back(std::log((candidate_outside ? inner : outer) / workload.repetitions));
  }
  return {.incumbent_ns = std::exp(midmean(std::move(incumbent))),
          .candidate_ns = std::exp(midmean(std::move(candidate)))};
}

double effect_of(const CommandRuns& runs) {
  for (const CommandRun& run : runs.runs) {
    if (!std::isfinite(run.value) || !(run.value > 0)) {
      damaged(fmt::format("a metric of {} is no positive number", run.value));
    }
  }
  const auto of_candidate = std::ranges::count_if(runs.runs, [](const CommandRun& run) { return run.candidate; });
  if (of_candidate == 0 || 2 * of_candidate != std::ssize(runs.runs)) {
    damaged("a round does not have as many runs of one command as of the other");
  }
  const double effect = std::log(runs.best(false)) - std::log(runs.best(true));
  return runs.higher_is_better ? -effect : effect;
}

double midmean(std::vector<double> values) {
  APO_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const auto drop = static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto kept = static_cast<double>(values.size()) - 2.0 * static_cast<double>(drop);
  return std::accumulate(values.begin() + drop, values.end() - drop, 0.0) / kept;
}

void summarise_round(Round& round) {
  if (round.commands) {
    round.effect = effect_of(*round.commands);
    return;
  }
  if (round.workloads.empty()) {
    damaged(name_of(round) + " has no workload");
  }
  std::vector<double> effects;
  for (RoundWorkload& workload : round.workloads) {
    try {
      summarise_workload(workload, round.candidate_in_slot0);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}, workload '{}': {}", name_of(round), workload.workload, error.what()),
                      error.hint());
    }
    effects.push_back(workload.effect);
  }
  // Sorted, so that the order in which the workloads were measured can't change the last bit.
  std::sort(effects.begin(), effects.end());
  round.effect = std::accumulate(effects.begin(), effects.end(), 0.0) / static_cast<double>(effects.size());
}

}  // namespace apo
