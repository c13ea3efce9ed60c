// harness/evaluate/rounds/host_rounds.cpp - opens a session for a round and takes its windows.
#include "harness/evaluate/rounds/host_rounds.h"

#include <algorithm>

#include "harness/core/nvtx.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/session.h"
#include "kernels/random.h"

namespace apo {
HostRounds::HostRounds(const Runtime& runtime, const std::vector<TimedWorkload>& workloads, const JudgePreset& preset,
                       const RoundCoins& coins, CachePolicy cache, const RoundOptions& options)
    : runtime_(runtime),
      workloads_(workloads),
      preset_(preset),
      coins_(coins),
      cache_(cache),
      options_(options),
      plans_(workloads.size()),
      turned_out_short_(workloads.size()) {}

void HostRounds::begin_round(RoundStage stage) {
  if (stage != stage_) {
    stage_ = stage;
    age_ = 0;
  }
}

Result<WindowPlan> HostRounds::plan(std::size_t which) {
  if (!plans_[which] || (turned_out_short_[which] && session_ == nullptr)) {
    const StageRange range("plan the windows");
    const std::uint64_t seed = derive_seed(coins_.campaign_seed, coins_.comparison + " plan", which);
    const SessionDraw draw{.candidate_in_slot0 = Random(seed).coin(), .layout_seed = seed};
    const auto plan = choose_plan(workloads_[which], draw);
    if (!plan) {
      return by_arm(plan.failure(), draw.candidate_in_slot0);
    }
    plans_[which] = *plan;
    turned_out_short_[which] = false;
  }
  return *plans_[which];
}

Result<WindowPlan> HostRounds::choose_plan(const TimedWorkload& workload, const SessionDraw& draw) {
  WindowPlan plan;
  {
    HostSession session(runtime_, workload, draw, cache_, plan);
    const auto ready = session.prepare(derive_seed(draw.layout_seed, "inputs"));
    const auto chosen = ready ? session.choose_plan(preset_) : Result<WindowPlan>(ready.failure());
    if (!chosen || chosen->call_ns < kLongCallNs) {
      return chosen;
    }
    plan = *chosen;
  }
  WindowPlan all_cpus = plan;
  all_cpus.calls = 1;
  all_cpus.one_cpu = false;
  HostSession session(runtime_, workload, draw, cache_, all_cpus);
  const auto ready = session.prepare(derive_seed(draw.layout_seed, "more inputs"));
  return ready ? session.choose_long_plan(preset_, plan, may_be_long_) : Result<WindowPlan>(ready.failure());
}

std::vector<WindowPlan> HostRounds::plans() const {
  std::vector<WindowPlan> plans;
  for (const std::optional<WindowPlan>& plan : plans_) {
    plans.push_back(plan.value_or(WindowPlan{}));
  }
  return plans;
}

Result<HostSession*> HostRounds::open(std::size_t which, Round& round) {
  const SessionDraw draw = draw_session(coins_, round.stage, round.index, which, workloads_, options_);
  const std::uint64_t inputs_seed = derive_seed(round.seed, "inputs", which);
  if (session_ != nullptr && age_ % options_.rounds_per_layout != 0) {
    round.candidate_in_slot0 = session_->candidate_in_slot0();
    session_->begin_round(inputs_seed);
    return session_.get();
  }
  if (session_ != nullptr && age_ != 0) {
    session_->begin_round(inputs_seed);
    auto laid_out = session_->lay_out_again(draw);
    return laid_out ? Result<HostSession*>(session_.get()) : laid_out.failure();
  }
  session_.reset();  // its processes have the CPUs
  session_ = std::make_unique<HostSession>(runtime_, workloads_[which], draw, cache_, *plans_[which]);
  auto ready = session_->prepare(inputs_seed);
  return ready ? Result<HostSession*>(session_.get()) : ready.failure();
}

Result<RoundWorkload> HostRounds::measure(std::size_t which, Round& round, std::uint64_t order_seed) {
  const auto opened = open(which, round);
  if (!opened) {
    session_.reset();
    return opened.failure();
  }
  HostSession& session = **opened;
  const WindowPlan plan = *plans_[which];
  RoundWorkload result{.workload = workloads_[which].name, .repetitions = plan.calls};
  const std::uint64_t look_seed = derive_seed(round.seed, "verification", which);  // which no process ever gets
  if (auto warm = plan.warms_up ? Result<Done>(Done{}) : session.warm_up(); !warm) {
    return warm.failure();
  }
  for (int index = plan.warms_up ? -1 : 0; index < plan.blocks; ++index) {
    const BlockKind kind = index < 0 ? BlockKind::warmup : BlockKind::timed;
    Random random(derive_seed(look_seed, "pair", static_cast<std::uint64_t>(index + 1)));
    const int held_pair = index < 0 ? -1 : random.coin() ? 1 : 0;
    auto block = session.block(kind, order_seed, static_cast<int>(which), std::max(0, index), held_pair);
    if (!block) {
      return block.failure();
    }
    (index < 0 ? result.warmup : result.blocks).push_back(*block);
  }
  if (age_ == 0) {
    round.environment.process_start_s = session.start_seconds();
    round.environment.start_wait_s = round.environment.start_wait_s.value_or(0) + session.start_wait_s();
  } else {
    round.environment.same_process = true;
  }
  round.environment.empty_window_ns = session.empty_window_ns();
  round.environment.several_cpus = round.environment.several_cpus.value_or(false) || !plan.one_cpu;
  const bool is_last = age_ + 1 == options_.rounds_per_process;
  if (auto finished = is_last ? session.finish() : Result<Done>(Done{}); !finished) {
    return finished.failure();
  }
  round.environment.start_wait_s = round.environment.start_wait_s.value_or(0) + session.take_untimed_s();
  if (!plan.warms_up && turned_out_short(result, round.candidate_in_slot0, preset_)) {  // the round is void
    may_be_long_ = false;
    turned_out_short_[which] = true;
  }
  if (is_last) {
    session_.reset();
  }
  return result;
}

}  // namespace apo
