// harness/evaluate/scan/scan_process.cpp - loads both arms into one process, checks a call, times pairs of calls.
#include "harness/evaluate/scan/scan_process.h"

#include <algorithm>
#include <chrono>
#include <cmath>
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

constexpr int kCandidate = 0;  // slots
constexpr int kIncumbent = 1;
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
  const Result<double> call = checked_call(incumbent_);
  if (!call) {
    throw EnvironmentError("the incumbent " + incumbent_.configuration.label() + " does not run on " + workload.name,
                           call.failure().evidence);
  }
  incumbent_ns_ = *call;
  if (has_host_code(incumbent_)) {
    worker_.reset();
  }
}

ScanTimes ScanProcess::measure(const TimedArm& candidate, const ScanEffort& effort) {
  const Result<ScanTimes> result = measured(candidate, effort);
  if (!result || has_host_code(candidate) || has_host_code(incumbent_)) {
    worker_.reset();
  }
  if (!result) {
    tensors_.reset();  // it may have written to them
    return {.outcome = result.failure().outcome, .evidence = result.failure().evidence};
  }
  return *result;
}

Result<ScanTimes> ScanProcess::measured(const TimedArm& candidate, const ScanEffort& effort) {
  const Result<double> call = checked_call(candidate);
  return call ? timed_calls(*call, effort) : call.failure();
}

Result<Done> ScanProcess::prepare(const TimedArm& candidate) {
  const Family& family = *runtime_.family;
  const std::vector<std::int64_t> scratch = runtime_.scratch(candidate.configuration, workload_.axes);
  if (const auto failure = check_scratch(scratch)) {
    return *failure;
  }
  bool attached = worker_ != nullptr && tensors_ != nullptr;
  if (worker_ == nullptr) {
    WorkerOptions options = runtime_.worker;
    options.layout_seed = derive_seed(seed_, "process", processes_++);
    worker_ = std::make_unique<Worker>(options);
    if (const auto loaded = load_build(*worker_, kIncumbent, incumbent_.build); !loaded) {
      return loaded.failure();
    }
  }
  if (const auto loaded = load_build(*worker_, kCandidate, candidate.build); !loaded) {
    return loaded.failure();
  }
  if (tensors_ == nullptr || scratch_ != scratch) {
    tensors_ = std::make_unique<SharedTensors>(shared_tensors_spec(
        family, workload_.axes, 1, scratch, runtime_.scratch(incumbent_.configuration, workload_.axes),
        derive_seed(seed_, "layout"), runtime_.worker.target));
    share_inputs(*tensors_, 0, family, inputs_->inputs, runtime_.threads);
    scratch_ = scratch;
    attached = false;
  }
  return attached ? Result<Done>(Done{}) : worker_->attach(*tensors_);
}

Result<double> ScanProcess::checked_call(const TimedArm& candidate) {
  if (const auto ready = prepare(candidate); !ready) {
    return ready.failure();
  }
  // A call of a right kernel that is so slow is no candidate. Nothing is known of the incumbent's first call.
  constexpr double kSlowest = 100;
  constexpr std::chrono::milliseconds kLeast{3'000};
  Worker::Deadline deadline;
  if (incumbent_ns_ > 0) {
    deadline = std::clamp(milliseconds(kSlowest * incumbent_ns_), kLeast, std::max(kLeast, runtime_.worker.deadline));
  }
  tensors_->poison_outputs();
  const auto sample = worker_->call(kCandidate, 0, deadline);
  if (!sample) {
    return sample.failure();
  }
  worker_->freeze();
  CallFindings findings;
  const auto failure =
      inspect_call(*tensors_, *runtime_.family, *inputs_,
                   candidate.configuration.label() + " " + candidate.build.code_hash, 0, runtime_.threads, &findings);
  if (failure && findings.wrong_call_of.empty()) {
    return *failure;
  }
  if (const auto changed = worker_->check_code()) {
    return *changed;
  }
  return std::max(1.0, elapsed_ns(*sample, runtime_.worker.target));
}

Result<ScanTimes> ScanProcess::timed_calls(double call_ns, const ScanEffort& effort) {
  const Target target = runtime_.worker.target;
  const double shortest = std::min(call_ns, incumbent_ns_);
  const int calls = target == Target::host ? 1
                                           : std::min(repetitions(shortest, 0, shortest >= kShortCallNs),
                                                      most_repetitions(*runtime_.family));
  const double pair_ns = calls * (call_ns + incumbent_ns_);
  const int pairs = std::clamp(static_cast<int>(1e9 * effort.seconds / pair_ns), 1, effort.most_pairs);
  RunRequest request{.repetitions = calls, .cache = cache_};
  request.order = {kIncumbent, kCandidate};  // warms up
  Random random(derive_seed(seed_, "order", processes_));
  for (int i = 0; i < pairs; ++i) {
    const bool first = random.coin();
    request.order.push_back(first ? kCandidate : kIncumbent);
    request.order.push_back(first ? kIncumbent : kCandidate);
  }
  constexpr double kPatience = 20;
  const auto samples =
      worker_->run(request, {}, runtime_.worker.deadline + milliseconds(kPatience * (pairs + 1) * pair_ns));
  if (!samples) {
    return samples.failure();
  }
  std::vector<double> own;
  std::vector<double> incumbents;
  for (std::size_t i = 2; i < samples->size(); ++i) {
    const RawSample& sample = (*samples)[i];
    (sample.slot == kCandidate ? own : incumbents).push_back(std::max(1.0, elapsed_ns(sample, target) / calls));
  }
  std::vector<double> effects;
  for (std::size_t i = 0; i < own.size(); ++i) {
    effects.push_back(std::log(incumbents.at(i) / own[i]));
  }
  return ScanTimes{
      .pairs = pairs,
      .time_ns = median(own),
      .incumbent_ns = median(incumbents),
      .effect = median(effects),
      .sd = pairs > kFewPairs ? kEfficiencyOfMedian * robust_spread(effects) / std::sqrt(pairs) : kSdOfFewPairs};
}

}  // namespace apo
