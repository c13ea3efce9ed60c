// harness/evaluate/rounds/runner.cpp - runs warm-up, blocks, inspected calls and clock checks of each workload.
#include "harness/evaluate/rounds/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/evaluate/rounds/layout.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Clock = std::chrono::steady_clock;

// cuEventElapsedTime counts in half microseconds, but an event pair, a launch and its start take 4 to 5 us: about a
// hundredth of this.
constexpr double kSampleNs = 400e3;

// Notes the state of a GPU that could make the round void.
void note_clock(RoundEnvironment& environment, std::optional<double>& mhz, const std::optional<DeviceState>& state) {
  if (!state) {
    return;
  }
  mhz = state->sm_mhz;
  environment.throttle_bits = environment.throttle_bits.value_or(0) | state->throttle_bits;
  environment.celsius = state->celsius;
  environment.watts = state->watts;
}

// Calls each arm once on inputs of the pool that are new to the session.
Result<Done> take_fresh_calls(RoundSession& session, std::size_t which, int block, std::uint64_t round_seed,
                              std::vector<std::size_t>& unseen) {
  if (unseen.empty() || !guard_is_on(Guard::fresh_inputs)) {
    return Done{};
  }
  const std::uint64_t coins =
      derive_seed(round_seed, "fresh inputs", (which << 16) + static_cast<std::uint64_t>(block));
  const std::size_t inputs = unseen.back();
  unseen.pop_back();
  return session.fresh_calls(inputs, static_cast<int>(coins & 1), static_cast<int>(coins >> 1 & 1));
}

void note_claims(const RoundSession& session, bool candidate_in_slot0, CrossChecks& checks) {
  const std::size_t candidate = candidate_in_slot0 ? 0 : 1;
  if (!session.fresh_ns()[0].empty()) {
    checks.fresh_candidate = median(session.fresh_ns().at(candidate));
    checks.fresh_incumbent = median(session.fresh_ns().at(1 - candidate));
  }
}

}  // namespace

RoundRunner::RoundRunner(const Runtime& runtime, std::vector<TimedWorkload> workloads, JudgePreset preset,
                         std::uint64_t campaign_seed, std::string comparison, CachePolicy cache, RoundOptions options)
    : runtime_(runtime),
      workloads_(std::move(workloads)),
      preset_(std::move(preset)),
      coins_{.campaign_seed = campaign_seed, .comparison = std::move(comparison)},
      cache_(cache),
      repetitions_(workloads_.size(), 0),
      options_(options),
      sessions_(runtime_, workloads_, coins_, cache_, options_) {
  // SharedTensors that live at the same time cannot share their memory.
  APO_CHECK(options_.rounds_per_process == 1 || workloads_.size() == 1);
  runtime_.worker_pool->clear();
  if (runtime_.worker.target == Target::host) {
    host_.emplace(runtime_, workloads_, preset_, coins_, cache_, options_);
  }
}

Result<Done> RoundRunner::warm_up(RoundSession& session, std::size_t which, std::uint64_t order_seed,
                                  RoundWorkload& result) {
  int repetitions = std::max(1, repetitions_[which]);
  const auto begin = Clock::now();
  // The flushes between the samples keep the machine as busy as these do; short cold ones would else take seconds of
  // them.
  while (!is_warm(result.warmup, preset_, seconds_since(begin))) {
    auto block = session.block(BlockKind::warmup, order_seed, static_cast<int>(which),
                               static_cast<int>(result.warmup.size()), repetitions, -1);
    if (!block) {
      return block.failure();
    }
    result.warmup.push_back(*block);
    if (repetitions_[which] == 0) {
      double shortest = INFINITY;
      for (const Sample& sample : block->samples) {
        shortest = std::min(shortest, static_cast<double>(sample.ns));
      }
      repetitions_[which] = calls_in_sample(*runtime_.family, workloads_[which].axes, shortest, cache_, kSampleNs);
      if (repetitions_[which] != repetitions) {
        repetitions = repetitions_[which];
        result.warmup.clear();  // of samples with another number of calls
      }
    }
  }
  result.repetitions = repetitions;
  return Done{};
}

Result<RoundWorkload> RoundRunner::measure_on_gpu(std::size_t which, Round& round, std::uint64_t order_seed) {
  const TimedWorkload& timed = workloads_[which];
  const auto opened = sessions_.open(which, round);
  if (!opened) {
    return opened.failure();
  }
  RoundSession& session = **opened;
  RoundWorkload result{.workload = timed.name};
  if (auto warm = warm_up(session, which, order_seed, result); !warm) {
    return warm.failure();
  }
  note_clock(round.environment, round.environment.sm_mhz_before, session.worker().state());
  const int blocks = block_count(result.warmup, preset_);
  if (auto measured = measure_blocks(session, which, round, order_seed, blocks, result); !measured) {
    return measured.failure();
  }
  note_clock(round.environment, round.environment.sm_mhz_after, session.worker().state());
  const bool last = sessions_.is_last_round();
  if (auto right = last ? session.calls_of_other_arm() : Result<Done>(Done{}); !right) {
    return right.failure();
  }
  if (session.is_new_process()) {
    round.environment.process_start_s = session.worker().start_seconds();
    round.environment.start_wait_s = round.environment.start_wait_s.value_or(0) + session.start_wait_s();
  } else {
    round.environment.same_process = true;
  }
  note_claims(session, round.candidate_in_slot0, result.checks);
  if (last) {
    sessions_.close(which);
  }
  return result;
}

Result<Done> RoundRunner::measure_blocks(RoundSession& session, std::size_t which, const Round& round,
                                         std::uint64_t order_seed, int blocks, RoundWorkload& result) {
  std::vector<std::size_t> unseen = session.unseen();
  const bool costly = session.workload().pool.size() == kFewestSets;
  const Inspections inspections =
      draw_inspections(derive_seed(round.seed, "verification", which), blocks, static_cast<int>(unseen.size()),
                       costly && guard_is_on(Guard::fresh_inputs));
  for (int index = 0; index < blocks; ++index) {
    int verify = -1;
    for (const Verification& one : inspections.at_timed) {
      verify = inspections.timed && one.block == index ? one.sample : verify;
    }
    auto block =
        session.block(BlockKind::timed, order_seed, static_cast<int>(which), index, result.repetitions, verify);
    if (!block) {
      return block.failure();
    }
    result.blocks.push_back(*block);
    if (std::ranges::find(inspections.fresh_after, index) != inspections.fresh_after.end()) {
      if (auto fresh = take_fresh_calls(session, which, index, round.seed, unseen); !fresh) {
        return fresh.failure();
      }
    }
  }
  return Done{};
}

Result<RoundWorkload> RoundRunner::measure(std::size_t which, Round& round, std::uint64_t order_seed) {
  return host_ ? host_->measure(which, round, order_seed) : measure_on_gpu(which, round, order_seed);
}

Result<Done> RoundRunner::plan_windows() {
  for (std::size_t which = 0; host_ && which < workloads_.size(); ++which) {
    if (auto plan = host_->plan(which); !plan) {
      return plan.failure();
    }
  }
  return Done{};
}

void RoundRunner::begin_round(RoundStage stage) {
  host_ ? host_->begin_round(stage) : sessions_.begin_round(stage);
}

void RoundRunner::end_round() {
  host_ ? host_->end_round() : sessions_.end_round();
}

void RoundRunner::drop(std::size_t which) {
  host_ ? host_->drop() : sessions_.drop(which);
}

Result<Round> RoundRunner::run(RoundStage stage, int index) {
  if (auto planned = plan_windows(); !planned) {
    return planned.failure();
  }
  const StageRange range(fmt::format("round {} {}", to_string(stage), index));
  const auto start = Clock::now();
  const CpuTicks ticks = read_cpu_ticks();
  Round round{
      .stage = stage, .index = index, .seed = round_seed(coins_.campaign_seed, coins_.comparison, stage, index)};
  const RoundDraw draw = draw_round(round.seed, static_cast<int>(workloads_.size()));
  round.candidate_in_slot0 = draw.candidate_in_slot0;
  round.workloads.resize(workloads_.size());
  begin_round(stage);
  for (const int which : draw.workload_order) {
    const auto at = static_cast<std::size_t>(which);
    auto measured = measure(at, round, draw.order_seed);
    if (!measured) {
      drop(at);
      return by_arm(measured.failure(), round.candidate_in_slot0);
    }
    round.workloads[at] = *measured;
  }
  end_round();
  round.environment.layout = options_.layout;
  round.environment.graph = runtime_.launch == LaunchForm::graph ? std::optional(true) : std::nullopt;
  round.environment.steal_percent = steal_percent(ticks, read_cpu_ticks());
  round.seconds = seconds_since(start);
  return round;
}

}  // namespace apo
