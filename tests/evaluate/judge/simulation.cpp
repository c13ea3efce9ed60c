// tests/evaluate/judge/simulation.cpp - the noise models, their virtual machine, and the trials.
#include "tests/evaluate/judge/simulation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "harness/evaluate/judge/decision.h"
#include "harness/evaluate/judge/round.h"

namespace apo::simulation {
namespace {

constexpr double kCall_s = 2.5e-3;
constexpr double kLongCall_s = 1;
constexpr double kLaunchGap_s = 10e-6;

double exponential(Random& random, double mean) {
  return -mean * std::log(random.uniform());
}

Block measure_block(World& world, const std::array<int, 4>& slots, bool candidate_in_slot0) {
  Block block;
  block.samples.reserve(4);
  for (const int slot : slots) {
    const Arm arm = (slot == 0) == candidate_in_slot0 ? Arm::candidate : Arm::incumbent;
    block.samples.push_back({.slot = slot, .ns = std::llround(1e9 * world.call(arm, slot))});
  }
  return block;
}

Round measure_round(World& world, const NextStep& step, const JudgePreset& preset, std::uint64_t seed,
                    const Without& without, Calls calls) {
  const double started_s = world.now_s();
  Round round{.stage = step.stage, .index = step.index, .seed = round_seed(seed, "trial", step.stage, step.index)};
  const RoundDraw draw = draw_round(round.seed, 1);
  round.candidate_in_slot0 = draw.candidate_in_slot0 && !without.slot_coin;
  const auto slots = [&](BlockKind kind, std::size_t block) {
    return without.order_coin ? std::array<int, 4>{0, 1, 1, 0}
                              : block_slots(draw.order_seed, kind, 0, static_cast<int>(block));
  };

  world.start_process();
  RoundWorkload workload{.workload = "simulated"};
  const auto is_ready = [&] {
    return calls == Calls::ordinary ? is_warm(workload.warmup, preset)
                                    : calls == Calls::long_ones || !workload.warmup.empty();
  };
  double untimed_s = 0;
  for (const int slot : {0, 1}) {
    if (calls == Calls::long_ones && !without.untimed_call) {
      untimed_s += world.call((slot == 0) == round.candidate_in_slot0 ? Arm::candidate : Arm::incumbent, slot);
    }
  }
  while (!is_ready()) {
    const auto order = slots(BlockKind::warmup, workload.warmup.size());
    workload.warmup.push_back(measure_block(world, order, round.candidate_in_slot0));
  }
  const int blocks = calls == Calls::ordinary ? block_count(workload.warmup, preset) : preset.window_blocks_min;
  while (static_cast<int>(workload.blocks.size()) < blocks) {
    const auto order = slots(BlockKind::timed, workload.blocks.size());
    workload.blocks.push_back(measure_block(world, order, round.candidate_in_slot0));
  }
  if (calls != Calls::ordinary && !without.long_apart) {
    round.environment.empty_window_ns = 0;  // of windows on a host
    round.environment.start_wait_s = untimed_s;
  }
  round.workloads.push_back(std::move(workload));
  round.seconds = world.now_s() - started_s;
  return round;
}

double mean_contrast(const Round& round) {
  double sum = 0;
  for (const Block& block : round.workloads.front().blocks) {
    for (const Sample& sample : block.samples) {
      const bool candidate = (sample.slot == 0) == round.candidate_in_slot0;
      sum += (candidate ? -0.5 : 0.5) * std::log(static_cast<double>(sample.ns));
    }
  }
  return sum / static_cast<double>(round.workloads.front().blocks.size());
}

Judge run_judge(World& world, const JudgePlan& plan, std::uint64_t seed, const Without& without, Calls calls) {
  Judge judge(plan);
  for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
    world.pause(step.pause_s);
    judge.add(measure_round(world, step, plan.preset, seed, without, calls));
  }
  return judge;
}

Trial run_full_rule(World& world, const JudgePreset& preset, std::uint64_t seed, const Without& without, Calls calls) {
  const Judge judge = run_judge(world, {.preset = preset}, seed, without, calls);
  return trial_of(judge, world.kernel_s());
}

// The decision alone, so that a part which the Judge always has can be taken away.
Trial run_mutilated_rule(World& world, const JudgePreset& preset, std::uint64_t seed, const Without& without) {
  Decision decision(preset, preset.confirm_alpha);
  int rounds = 0;
  while (decision.phase() == Decision::Phase::search ||
         (decision.phase() == Decision::Phase::confirm && !without.confirmation)) {
    const bool confirming = decision.phase() == Decision::Phase::confirm;
    if (confirming && decision.confirmation().empty()) {
      world.pause(preset.pause_s);
    }
    Round round =
        measure_round(world, {.stage = confirming ? RoundStage::confirm : RoundStage::search, .index = rounds++},
                      preset, seed, without, Calls::ordinary);
    summarise_round(round);
    decision.add(without.robust_centre ? mean_contrast(round) : round.effect);
  }
  const bool passed = decision.phase() == Decision::Phase::confirm || decision.verdict() == Verdict::accepted;
  return {.verdict = passed ? Verdict::accepted : decision.verdict(),
          .reason = passed ? Reason::faster : decision.reason(),
          .claimed = 0,
          .processes = rounds,
          .kernel_s = world.kernel_s()};
}

}  // namespace

std::vector<NoiseModel> noise_models() {
  return {
      {.name = "M0 white 1 %", .white = .01},
      {.name = "M1 autocorrelated 1 %", .white = .005, .correlated = .01},
      {.name = "M2 sine drift 4 %", .white = .005, .sine = .02},
      {.name = "M3 linear drift 4 % in 10 s", .white = .005, .drift_per_s = .004},
      {.name = "M4 boost step 4 %", .white = .005, .boost_step = .04},
      {.name = "M5 neighbour's spikes", .white = .005, .burst_s = .05, .spike_chance = .02, .spike_scale = .2},
      {.name = "M6 process offset 0.5 %", .white = .01, .process_each = .005},
      {.name = "M7 first run +80 %",
       .white = .005,
       .process_each = .002,
       .first_call = .8,
       .cold_calls = .10,
       .process_start = .03,
       .session_first_calls = 80},
      {.name = "M8 shared 2 cores ~10 %",
       .white = .02,
       .correlated = .03,
       .burst_s = .05,
       .spike_chance = .04,
       .spike_scale = .10,
       .process_each = .003,
       .process_shared = .03,
       .first_call = .6,
       .cold_calls = .05},
      {.name = "M8w white 10 %", .white = .10},
      {.name = "M9 everything at once",
       .white = .005,
       .correlated = .005,
       .sine = .015,
       .boost_step = .02,
       .burst_s = .01,
       .quiet_s = .5,
       .spike_chance = .01,
       .spike_scale = .2,
       .process_each = .005,
       .process_shared = .01,
       .first_call = .8,
       .cold_calls = .05,
       .process_start = .03,
       .session_first_calls = 80},
      {.name = "M10 period of 4 calls, 2 %", .white = .005, .period4 = .02},
      {.name = "M11 slot bias 0.5 %", .white = .005, .process_each = .002, .slot_bias = .005},
      {.name = "M12 heavy-tailed offsets", .white = .005, .process_each = .003, .process_heavy_tail = true},
      {.name = "M13 alignment lottery",
       .white = .005,
       .process_each = .002,
       .misaligned_chance = .3,
       .misaligned_cost = .02},
  };
}

const NoiseModel& noise_model(std::string_view name) {
  static const std::vector<NoiseModel> models = noise_models();
  for (const NoiseModel& model : models) {
    if (model.name.substr(0, model.name.find(' ')) == name) {
      return model;
    }
  }
  throw std::invalid_argument("no noise model " + std::string(name));
}

World::World(const NoiseModel& model, double call_s, double effect, std::uint64_t seed)
    : model_(model), random_(seed), call_s_(call_s), effect_(effect) {
  const double period_s = model.period_min_s * std::pow(model.period_max_s / model.period_min_s, random_.uniform());
  phase_ = random_.uniform(0, 2 * std::numbers::pi);
  angular_ = 2 * std::numbers::pi / period_s;
  drift_sign_ = random_.coin() ? 1 : -1;
  period4_sign_ = random_.coin() ? 1 : -1;
  slot_sign_ = random_.coin() ? 1 : -1;
  boosted_ = random_.coin();
  boost_until_s_ = exponential(random_, model.boost_dwell_s);
  bursting_ = random_.uniform() < model.burst_s / (model.burst_s + model.quiet_s);
  burst_until_s_ = exponential(random_, bursting_ ? model.burst_s : model.quiet_s);
  burst_size_ = random_.uniform(model.burst_min, model.burst_max);
  correlated_ = model.correlated * random_.normal();
  draw_layouts();
}

void World::draw_layouts() {
  for (double& offset : layout_offset_) {
    offset = model_.layout_each > 0 ? model_.layout_each * random_.normal() : 0;
  }
}

void World::start_process() {
  now_s_ += model_.startup_s;
  process_started_s_ = now_s_;
  shared_offset_ = model_.process_shared * random_.normal();
  if (!model_.layout_fixed) {
    draw_layouts();
  }
  for (double& offset : arm_offset_) {
    // A normal over the root of a chi-square of 2 degrees over 2 is Student's t of 2 degrees.
    const double scale = model_.process_heavy_tail ? std::sqrt(-std::log(random_.uniform())) : 1;
    offset = model_.process_each * random_.normal() / scale;
    offset += random_.uniform() < model_.misaligned_chance ? model_.misaligned_cost : 0;
  }
  arm_calls_ = {};
  calls_ = 0;
}

// What the machine does to anything that runs now.
double World::machine_noise() {
  double noise = drift_sign_ * model_.drift_per_s * now_s_;
  if (model_.white > 0) {
    noise += model_.white * random_.normal();
  }
  if (model_.correlated > 0) {
    const double kept = std::exp(-(now_s_ - correlated_at_s_) / model_.correlation_s);
    correlated_ = kept * correlated_ + model_.correlated * std::sqrt(1 - kept * kept) * random_.normal();
    correlated_at_s_ = now_s_;
    noise += correlated_;
  }
  if (model_.sine > 0) {
    noise += model_.sine * std::sin(angular_ * now_s_ + phase_);
  }
  if (model_.boost_step > 0) {
    for (; now_s_ > boost_until_s_; boost_until_s_ += exponential(random_, model_.boost_dwell_s)) {
      boosted_ = !boosted_;
    }
    noise += boosted_ ? model_.boost_step : 0;
  }
  if (model_.burst_s > 0) {
    while (now_s_ > burst_until_s_) {
      bursting_ = !bursting_;
      burst_until_s_ += exponential(random_, bursting_ ? model_.burst_s : model_.quiet_s);
      burst_size_ = random_.uniform(model_.burst_min, model_.burst_max);
    }
    noise += bursting_ ? burst_size_ * random_.uniform(0.5, 1.5) : 0;
  }
  return noise;
}

// What this process, its slots and the number of calls so far do.
double World::process_noise(Arm arm, int slot) {
  const auto index = static_cast<std::size_t>(arm);
  double noise =
      arm_offset_.at(index) + layout_offset_.at(index) + shared_offset_ + slot_sign_ * model_.slot_bias * slot;
  noise += model_.process_start * std::exp(-(now_s_ - process_started_s_) / model_.process_start_s);
  noise += model_.cold_calls * std::exp(-arm_calls_.at(index) / model_.cold_calls_decay);
  const int position = calls_ % 4;
  noise -= position == 1 || position == 2 ? period4_sign_ * model_.period4 : 0;
  return noise;
}

double World::added_time(Arm arm) {
  double added = 0;
  if (fresh_session_) {
    added += kCall_s * model_.session_first_calls;  // what it waits for does not grow with a call
    fresh_session_ = false;
  }
  if (model_.spike_chance > 0 && random_.uniform() < model_.spike_chance) {
    const double size = model_.spike_scale * (std::pow(random_.uniform(), -1 / model_.spike_tail) - 1);
    added += call_s_ * std::min(20.0, size);
  }
  ++arm_calls_.at(static_cast<std::size_t>(arm));
  ++calls_;
  return added;
}

double World::call(Arm arm, int slot) {
  const double log_time = machine_noise() + process_noise(arm, slot) - (arm == Arm::candidate ? effect_ : 0);
  const bool first = arm_calls_.at(static_cast<std::size_t>(arm)) == 0;
  const double first_call =
      model_.first_call + (arm == Arm::candidate ? model_.candidate_first : model_.incumbent_first);
  const bool slow = arm == Arm::candidate && model_.slow_chance > 0 && random_.uniform() < model_.slow_chance;
  const double duration_s =
      call_s_ * std::exp(log_time) * (first ? 1 + first_call : 1) * (slow ? model_.slow_factor : 1) + added_time(arm);
  now_s_ += duration_s + kLaunchGap_s;
  kernel_s_ += duration_s;
  return duration_s;
}

Trial trial_of(const Judge& judge, double kernel_s) {
  const Judgement judgement = judge.judgement();
  return {.verdict = judgement.verdict,
          .reason = judgement.reason,
          .claimed = judgement.effect,
          .processes = judgement.processes,
          .kernel_s = kernel_s};
}

Judge run_comparison(const NoiseModel& model, double effect, const JudgePlan& plan, std::uint64_t seed) {
  World world(model, kCall_s, effect, derive_seed(seed, "world"));
  return run_judge(world, plan, seed, {}, Calls::ordinary);
}

Trial run_trial(const NoiseModel& model, double effect, const JudgePreset& preset, std::uint64_t seed,
                const Without& without, Calls calls) {
  World world(model, calls == Calls::ordinary ? kCall_s : kLongCall_s, effect, derive_seed(seed, "world"));
  const bool mutilated = without.robust_centre || without.confirmation;
  return mutilated ? run_mutilated_rule(world, preset, seed, without)
                   : run_full_rule(world, preset, seed, without, calls);
}

void add_to(Tally& tally, const Trial& trial) {
  ++tally.reasons[trial.reason];
  tally.accepted += trial.verdict == Verdict::accepted ? 1 : 0;
  tally.claimed_sum += trial.verdict == Verdict::accepted ? trial.claimed : 0;
  tally.kernel_s_sum += trial.kernel_s;
  tally.processes_sum += trial.processes;
}

Tally run_trials(const NoiseModel& model, double effect, const JudgePreset& preset, int trials, std::uint64_t seed,
                 const Without& without, Calls calls) {
  Tally tally{.trials = trials};
  for (int i = 0; i < trials; ++i) {
    const Trial trial =
        run_trial(model, effect, preset, derive_seed(seed, model.name, static_cast<std::uint64_t>(i)), without, calls);
    add_to(tally, trial);
  }
  return tally;
}

RateInterval wilson(int hits, int trials) {
  const double z2 = 1.959964 * 1.959964;
  const double n = trials;
  const double rate = hits / n;
  const double centre = (rate + z2 / (2 * n)) / (1 + z2 / n);
  const double half = std::sqrt(z2 * (rate * (1 - rate) / n + z2 / (4 * n * n))) / (1 + z2 / n);
  return {.low = hits == 0 ? 0 : centre - half, .high = hits == trials ? 1 : centre + half};
}

}  // namespace apo::simulation
