// harness/evaluate/scan/scan_process.cpp - loads both arms into one process, checks a call, times pairs of calls.
#include "harness/evaluate/scan/scan_process.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>

#include "harness/core/error.h"
#include "harness/evaluate/correctness/inspect_call.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "harness/worker/parent/evidence.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr double kShortCallNs = 50e3;  // on a GPU: below it a sample holds several calls, as in the judge
// Of the effect of so few pairs that they show no spread.
constexpr int kFewPairs = 3;
constexpr double kSdOfFewPairs = 0.1;
constexpr double kEfficiencyOfMedian = 1.2533;  // its standard deviation over that of a mean, for normal data

std::chrono::milliseconds milliseconds(double ns) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(ns / 1e6));
}

bool has_host_code(const TimedArm& arm) {
  return arm.build.plan.launches.empty();
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
                                  runtime.family->regimes.front(), runtime.threads)) {
  const Result<double> call = checked_call(Arm::candidate, incumbent_);
  if (!call) {
    throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not run on " + workload.name,
                           call.failure().evidence);
  }
  incumbent_ns_ = *call;
  candidate_ = {};
}

ScanTimes ScanProcess::measure(const TimedArm& candidate, const ScanEffort& effort) {
  const Result<ScanTimes> result = measured(candidate, effort);
  if (!result || has_host_code(candidate) || has_host_code(incumbent_)) {
    candidate_ = {};
  }
  return result ? *result : ScanTimes{.outcome = result.failure().outcome, .evidence = result.failure().evidence};
}

Result<ScanTimes> ScanProcess::measured(const TimedArm& candidate, const ScanEffort& effort) {
  const Result<double> call = checked_call(Arm::candidate, candidate);
  if (!call) {
    return call.failure();
  }
  if (!share_a_process() && (own_.worker == nullptr || !own_.worker->alive())) {
    if (const auto ready = prepare(Arm::incumbent, incumbent_); !ready) {
      throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not run any more",
                             ready.failure().evidence);
    }
  }
  return timed_calls(*call, effort);
}

Result<Done> ScanProcess::prepare(Arm arm, const TimedArm& code) {
  const auto scratch_of = [&](const TimedArm& one) { return runtime_.scratch(one.configuration, workload_.axes); };
  const std::vector<std::int64_t> scratch = scratch_of(code);
  if (const auto failure = check_scratch(scratch)) {
    return *failure;
  }
  Process& process = process_of(arm);
  if (process.worker == nullptr || !process.worker->alive()) {
    WorkerOptions options = runtime_.worker;
    options.layout_seed = derive_seed(seed_, "process", processes_++);
    process.worker = std::make_unique<Worker>(options);
    if (share_a_process()) {
      if (const auto loaded = load_build(*process.worker, slot_of(Arm::incumbent), incumbent_.build); !loaded) {
        return loaded.failure();
      }
    }
  }
  if (const auto loaded = load_build(*process.worker, slot_of(arm), code.build); !loaded) {
    return loaded.failure();
  }
  process.tensors = std::make_unique<SharedTensors>(
      shared_tensors_spec(*runtime_.family, workload_.axes, 1, scratch,
                          share_a_process() ? scratch_of(incumbent_) : std::vector<std::int64_t>(),
                          derive_seed(seed_, "layout", processes_), runtime_.worker.target));
  share_inputs(*process.tensors, 0, *runtime_.family, inputs_->inputs, runtime_.threads);
  return process.worker->attach(*process.tensors);
}

Result<double> ScanProcess::checked_call(Arm arm, const TimedArm& code) {
  if (const auto ready = prepare(arm, code); !ready) {
    return ready.failure();
  }
  // A call of a right kernel that is so slow is no candidate. Nothing is known of the incumbent's first call.
  constexpr double kSlowest = 100;
  constexpr std::chrono::milliseconds kLeast{3'000};
  Worker::Deadline deadline;
  if (incumbent_ns_ > 0) {
    deadline = std::clamp(milliseconds(kSlowest * incumbent_ns_), kLeast, std::max(kLeast, runtime_.worker.deadline));
  }
  Worker& worker = *process_of(arm).worker;
  SharedTensors& tensors = *process_of(arm).tensors;
  tensors.poison_outputs();
  const auto sample = worker.call(slot_of(arm), 0, deadline);
  if (!sample) {
    return sample.failure();
  }
  worker.freeze();
  CallFindings findings;
  const auto failure =
      inspect_call(tensors, *runtime_.family, *inputs_, code.configuration.label() + " " + code.build.code_hash, 0,
                   runtime_.threads, &findings);
  if (failure && findings.wrong_call_of.empty()) {
    return *failure;
  }
  if (const auto changed = worker.check_code()) {
    return *changed;
  }
  return std::max(1.0, elapsed_ns(*sample, runtime_.worker.target));
}

// On a host nothing of the other process runs meanwhile.
Result<std::vector<RawSample>> ScanProcess::samples(const std::vector<Arm>& order, int calls, double ns_of_all) {
  constexpr double kPatience = 20;
  const auto deadline = runtime_.worker.deadline + milliseconds(kPatience * ns_of_all);
  RunRequest request{.order = {}, .repetitions = calls, .cache = cache_};
  if (share_a_process()) {
    std::ranges::transform(order, std::back_inserter(request.order), [&](Arm arm) { return slot_of(arm); });
    return candidate_.worker->run(request, {}, deadline);
  }
  std::vector<RawSample> all;
  request.order = {0};
  for (const Arm arm : order) {
    Worker& worker = *process_of(arm).worker;
    const auto one = worker.run(request, {}, deadline);
    if (!one && arm == Arm::incumbent) {
      throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not run any more",
                             one.failure().evidence);
    }
    if (!one) {
      return one.failure();
    }
    worker.freeze();
    all.push_back(one->front());
  }
  return all;
}

Result<ScanTimes> ScanProcess::timed_calls(double call_ns, const ScanEffort& effort) {
  const Target target = runtime_.worker.target;
  const double shortest = std::min(call_ns, incumbent_ns_);
  const int calls = target == Target::host ? 1
                                           : std::min(repetitions(shortest, 0, shortest >= kShortCallNs),
                                                      most_repetitions(*runtime_.family));
  const double pair_ns = calls * (call_ns + incumbent_ns_);
  const int pairs = std::clamp(static_cast<int>(1e9 * effort.seconds / pair_ns), 1, effort.most_pairs);
  std::vector<Arm> order = {Arm::incumbent, Arm::candidate};  // warms up
  Random random(derive_seed(seed_, "order", processes_));
  for (int i = 0; i < pairs; ++i) {
    const bool first = random.coin();
    order.push_back(first ? Arm::candidate : Arm::incumbent);
    order.push_back(first ? Arm::incumbent : Arm::candidate);
  }
  const auto taken = samples(order, calls, (pairs + 1) * pair_ns);
  if (!taken) {
    return taken.failure();
  }
  std::vector<double> own;
  std::vector<double> incumbents;
  for (std::size_t i = 2; i < order.size(); ++i) {
    (order[i] == Arm::candidate ? own : incumbents).push_back(std::max(1.0, elapsed_ns((*taken)[i], target) / calls));
  }
  std::vector<double> effects;
  for (std::size_t i = 0; i < own.size(); ++i) {
    effects.push_back(std::log(incumbents[i] / own[i]));
  }
  return ScanTimes{
      .pairs = pairs,
      .time_ns = median(own),
      .incumbent_ns = median(incumbents),
      .effect = median(effects),
      .sd = pairs > kFewPairs ? kEfficiencyOfMedian * robust_spread(effects) / std::sqrt(pairs) : kSdOfFewPairs};
}

}  // namespace apo
