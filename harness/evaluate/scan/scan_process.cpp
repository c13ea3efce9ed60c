// harness/evaluate/scan/scan_process.cpp - loads both arms, checks the candidate's calls, takes blocks of samples.
#include "harness/evaluate/scan/scan_process.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/evaluate/correctness/inspect_call.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/judge/round.h"
#include "harness/worker/parent/evidence.h"

namespace apo {
namespace {

// Of the effect of so few blocks that they show no spread.
constexpr std::size_t kFewBlocks = 3;
constexpr double kSdOfFewBlocks = 0.1;
constexpr double kEfficiencyOfMidmean = 1.1;  // its standard deviation over that of a mean, for normal data
constexpr std::size_t kPlanWindows = 3;
constexpr double kPlanNs = 20e6;  // of so many together fewer are enough

bool has_host_code(const TimedArm& arm) {
  return arm.build.plan.launches.empty();
}

// Of one process; 0: a block takes longer.
int blocks_in(const ScanEffort& effort, double seconds, double block_s) {
  return std::min(static_cast<int>(seconds / block_s), effort.most_blocks);
}

// Of a median or midmean of these values.
double sd_of_middle(const std::vector<double>& values) {
  return kEfficiencyOfMidmean * robust_spread(values) / std::sqrt(static_cast<double>(values.size()));
}

// What processes differ by is not in the spread of one's blocks.
ScanTimes times_of(const std::vector<RoundWorkload>& processes) {
  RoundWorkload all{.repetitions = processes.front().repetitions};
  std::vector<double> contrasts;
  std::vector<double> effects;  // by process
  for (const RoundWorkload& one : processes) {
    const auto begin = contrasts.size();
    std::ranges::transform(one.blocks, std::back_inserter(contrasts),
                           [](const Block& block) { return block_contrast(block, true); });
    effects.push_back(midmean({contrasts.begin() + static_cast<std::ptrdiff_t>(begin), contrasts.end()}));
    all.blocks.insert(all.blocks.end(), one.blocks.begin(), one.blocks.end());
  }
  const TypicalCalls calls = typical_calls(all, true);
  const double within = contrasts.size() > kFewBlocks ? sd_of_middle(contrasts) : kSdOfFewBlocks;
  return {.pairs = static_cast<int>(2 * contrasts.size()),
          .time_ns = calls.candidate_ns,
          .incumbent_ns = calls.incumbent_ns,
          .effect = midmean(effects),
          .sd = std::max(within, effects.size() > 1 ? sd_of_middle(effects) : 0)};
}

}  // namespace

ScanProcess::ScanProcess(const Runtime& runtime, const Workload& workload, CachePolicy cache, TimedArm incumbent,
                         std::uint64_t seed)
    : runtime_(runtime),
      workload_(workload),
      cache_(cache),
      incumbent_(std::move(incumbent)),
      seed_(seed),
      inputs_(runtime.inputs->get(*runtime.family, workload, derive_seed(seed, "inputs"),
                                  runtime.family->regimes.front(), runtime.threads, Purpose::scan)) {
  const auto refuse = [&](const Failure& failure) {
    throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not run on " + workload.name,
                           failure.evidence);
  };
  if (on_gpu()) {
    const auto call = checked_call(incumbent_);
    if (!call) {
      refuse(call.failure());
    }
    incumbent_ns_ = *call;
    if (has_host_code(incumbent_)) {
      end_process();
    }
  } else {
    const auto plan = plan_of(beside_the_incumbent(incumbent_));
    if (!plan) {
      refuse(plan.failure());
    }
    incumbent_ns_ = plan->call_ns;
    several_cpus_ = !plan->one_cpu;
  }
  // A call of a right kernel that is so slow is no candidate. Nothing is known of the incumbent's first call.
  constexpr double kSlowest = 100;
  constexpr std::chrono::milliseconds kLeast{3'000};
  const std::chrono::milliseconds slowest(static_cast<std::int64_t>(kSlowest * incumbent_ns_ / 1e6));
  deadline_ = std::clamp(slowest, kLeast, std::max(kLeast, runtime.worker.deadline));
  if (!on_gpu()) {
    runtime_.worker.deadline = *deadline_;  // a GPU is brought its tensors in a request, too
  }
}

ScanTimes ScanProcess::measure(const TimedArm& candidate, const ScanEffort& effort) {
  const bool is_first = tensors_ == nullptr;
  Result<Processes> taken = on_gpu() ? blocks_on_gpu(candidate, effort) : blocks_on_host(candidate, effort);
  const auto is_out_for = [&](Outcome outcome) { return !taken && taken.failure().outcome == outcome; };
  if (on_gpu() && !is_first && (is_out_for(Outcome::incorrect) || is_out_for(Outcome::faulted))) {
    end_process();  // what it met may have been left by those before it
    taken = blocks_on_gpu(candidate, effort);
  }
  if (!taken || has_host_code(candidate) || has_host_code(incumbent_)) {
    end_process();
  }
  return taken ? times_of(*taken) : ScanTimes{.outcome = taken.failure().outcome, .evidence = taken.failure().evidence};
}

// ---------------------------------------------------------------- a GPU: one process

void ScanProcess::end_process() {
  worker_ = nullptr;
  tensors_ = nullptr;
}

// Candidates with as much scratch as the one before work on its tensors.
Result<Done> ScanProcess::prepare_gpu(const TimedArm& candidate) {
  const auto scratch_of = [&](const TimedArm& one) { return runtime_.scratch(one.configuration, workload_.axes); };
  const std::vector<std::int64_t> scratch = scratch_of(candidate);
  if (const auto failure = check_scratch(scratch)) {
    return *failure;
  }
  if (worker_ == nullptr || !worker_->alive()) {
    const StageRange range("start of a process");
    end_process();
    worker_ = runtime_.worker_pool->take_kept();
    if (worker_ == nullptr) {
      WorkerOptions options = runtime_.worker;
      options.layout_seed = next_seed();
      worker_ = std::make_unique<Worker>(options);
    }
    if (const auto loaded = load_build(*worker_, 1, incumbent_.build); !loaded) {
      return loaded.failure();
    }
  }
  const StageRange range("load and attach");
  if (const auto loaded = load_build(*worker_, 0, candidate.build); !loaded) {
    return loaded.failure();
  }
  if (tensors_ != nullptr && scratch == scratch_) {
    return Done{};
  }
  scratch_ = scratch;
  SharedTensorsSpec spec = shared_tensors_spec(*runtime_.family, workload_.axes, 1, scratch, scratch_of(incumbent_),
                                               derive_seed(seed_, "layout", processes_), runtime_.worker.target);
  spec.threads = runtime_.threads;
  tensors_ = std::make_unique<SharedTensors>(spec);
  runtime_.device_inputs->keep(*runtime_.family, runtime_.worker, {inputs_}, runtime_.threads);
  bring_inputs(runtime_, *tensors_, 0, *inputs_, runtime_.threads);
  return worker_->attach(*tensors_);
}

Result<double> ScanProcess::checked_call(const TimedArm& candidate) {
  if (const auto ready = prepare_gpu(candidate); !ready) {
    return ready.failure();
  }
  const StageRange range("checked call");
  tensors_->poison_outputs();
  const auto sample = worker_->call(0, 0, deadline_);
  if (!sample) {
    return sample.failure();
  }
  if (!right_.contains(candidate.build.key)) {
    worker_->freeze();
    const StageRange compare("compare");
    const std::string whose = candidate.configuration.label() + " " + candidate.build.code_hash;
    const std::optional<int> to_check = worker_->inputs_unchanged() ? std::nullopt : std::optional(0);
    CallFindings findings;
    const auto wrong =
        inspect_call(*tensors_, *runtime_.family, *inputs_, whose, to_check, runtime_.threads, &findings);
    if (wrong && findings.wrong_call_of.empty()) {
      return *wrong;
    }
    right_.insert(candidate.build.key);
  }
  return std::max(1.0, elapsed_ns(*sample, Target::cuda));
}

Result<ScanProcess::Processes> ScanProcess::blocks_on_gpu(const TimedArm& candidate, const ScanEffort& effort) {
  const auto call = checked_call(candidate);
  if (!call) {
    return call.failure();
  }
  const StageRange range("timed");
  const double shortest = std::min(*call, incumbent_ns_);
  RunRequest request{
      .order = {}, .repetitions = calls_in_sample(*runtime_.family, workload_.axes, shortest, cache_), .cache = cache_};
  const double block_s = 2e-9 * request.repetitions * (*call + incumbent_ns_);
  const int blocks = blocks_in(effort, effort.seconds, block_s);
  const std::uint64_t seed = derive_seed(seed_, "order", processes_++);
  for (int index = blocks > 0 ? -1 : 0; index < std::max(1, blocks); ++index) {
    const auto slots =
        block_slots(seed, index < 0 ? BlockKind::warmup : BlockKind::timed, 0, static_cast<int>(std::max(0, index)));
    request.order.insert(request.order.end(), slots.begin(), slots.end());
  }
  constexpr double kPatience = 20;
  const std::chrono::milliseconds patience(static_cast<std::int64_t>(1e3 * kPatience * (blocks + 1) * block_s));
  const auto samples = worker_->run(request, {}, runtime_.worker.deadline + patience);
  if (!samples) {
    return samples.failure();
  }
  RoundWorkload result{.workload = workload_.name, .repetitions = request.repetitions};
  for (std::size_t i = blocks > 0 ? 4 : 0; i < samples->size(); ++i) {  // the first block warms up
    if (i % 4 == 0) {
      result.blocks.emplace_back();
    }
    const double ns = std::max(1.0, elapsed_ns((*samples)[i], Target::cuda));
    result.blocks.back().samples.push_back({.slot = request.order[i], .ns = static_cast<std::int64_t>(ns)});
  }
  return Processes{result};
}

// ---------------------------------------------------------------- a host: processes for each candidate

TimedWorkload ScanProcess::beside_the_incumbent(const TimedArm& candidate) const {
  return {.name = workload_.name,
          .axes = workload_.axes,
          .incumbent = incumbent_,
          .candidate = candidate,
          .pool = InputPool(inputs_)};
}

// As HostRounds chooses one, by the candidate alone: what the incumbent does is known.
Result<WindowPlan> ScanProcess::plan_of(const TimedWorkload& timed) {
  WindowPlan plan{.one_cpu = false};
  const std::uint64_t seed = next_seed();
  HostSession session(runtime_, timed, {.candidate_in_slot0 = true, .layout_seed = seed}, cache_, plan);
  if (auto ready = session.prepare(seed); !ready) {
    return ready.failure();
  }
  std::vector<WindowTimes> windows;
  for (double ns = 0; windows.size() < kPlanWindows && ns < kPlanNs;) {
    const auto times = session.window(0, HostSession::Look::nothing);
    if (!times) {
      return times.failure();
    }
    windows.push_back(*times);
    ns += static_cast<double>(times->ns);
  }
  plan.call_ns = static_cast<double>(std::ranges::min_element(windows, {}, &WindowTimes::ns)->ns);
  plan.one_cpu = !several_cpus_ && (plan.call_ns < kLongCallNs || !uses_several_cpus(windows));
  if (plan.one_cpu) {
    const double shortest = incumbent_ns_ > 0 ? std::min(plan.call_ns, incumbent_ns_) : plan.call_ns;
    plan.calls = calls_in_window(JudgePreset{}.window_s, 1e-9 * shortest,
                                 tensor_bytes(*runtime_.family, workload_.axes), cache_);
  }
  return plan;
}

// The first block warms up, and its outputs are held against each other, then against the reference where they differ.
// A block that takes all the time counts alone. How many there are is said by the calls' own time: on a busy machine
// others are between them.
Result<RoundWorkload> ScanProcess::blocks_of_pair(const TimedWorkload& timed, const WindowPlan& plan,
                                                  const ScanEffort& effort) {
  const std::uint64_t seed = next_seed();
  HostSession session(runtime_, timed, {.candidate_in_slot0 = true, .layout_seed = seed}, cache_, plan, 1);
  if (auto ready = session.prepare(seed); !ready) {
    return ready.failure();
  }
  RoundWorkload result{.workload = timed.name, .repetitions = plan.calls};
  const double block_s = 2e-9 * plan.calls * (plan.call_ns + incumbent_ns_);
  const int blocks = blocks_in(effort, effort.seconds / effort.processes, block_s);
  for (int index = blocks > 0 ? -1 : 0; index < std::max(1, blocks); ++index) {
    const bool warms_up = index < 0;
    const auto block = session.block(warms_up ? BlockKind::warmup : BlockKind::timed, seed, 0, std::max(0, index),
                                     warms_up || blocks == 0 ? 1 : -1);
    if (!block) {
      return block.failure();
    }
    (warms_up ? result.warmup : result.blocks).push_back(*block);
  }
  if (auto finished = session.finish(); !finished) {
    return finished.failure();
  }
  return result;
}

Result<ScanProcess::Processes> ScanProcess::blocks_on_host(const TimedArm& candidate, const ScanEffort& effort) {
  const TimedWorkload timed = beside_the_incumbent(candidate);
  const auto refuse_incumbent = [&](const Failure& failure) {
    if (failure.slot == 1) {
      throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not run any more",
                             failure.evidence);
    }
    return failure;
  };
  if (const auto failure = check_scratch(runtime_.scratch(candidate.configuration, workload_.axes))) {
    return *failure;
  }
  auto plan = plans_.find(candidate.build.key);
  if (plan == plans_.end()) {
    const auto chosen = plan_of(timed);
    if (!chosen) {
      return refuse_incumbent(chosen.failure());
    }
    plan = plans_.emplace(candidate.build.key, *chosen).first;
  }
  Processes all;
  for (int i = 0; i < effort.processes; ++i) {
    auto blocks = blocks_of_pair(timed, plan->second, effort);
    if (!blocks) {
      return refuse_incumbent(blocks.failure());
    }
    all.push_back(std::move(*blocks));
  }
  return all;
}

}  // namespace apo
