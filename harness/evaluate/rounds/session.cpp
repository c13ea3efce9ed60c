// harness/evaluate/rounds/session.cpp - links, loads, asks for blocks, inspects outputs.
#include "harness/evaluate/rounds/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <utility>

#include "harness/core/guards.h"
#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/evaluate/correctness/inspect_call.h"
#include "harness/evaluate/rounds/clocks.h"
#include "harness/worker/parent/evidence.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr const char* kFreshCall = "call on inputs made right before it";

}  // namespace

RoundSession::RoundSession(const Runtime& runtime, const TimedWorkload& workload, const SessionDraw& draw,
                           CachePolicy cache, std::unique_ptr<SharedTensors> shared_tensors,
                           std::unique_ptr<Worker> process, bool is_new)
    : runtime_(runtime),
      family_(*runtime.family),
      timed_(workload),
      draw_(draw),
      cache_(cache),
      target_(runtime.worker.target),
      threads_(runtime.threads),
      new_process_(is_new),
      worker_(std::move(process)),
      shared_tensors_(std::move(shared_tensors)) {
  lay_out_code(runtime);
}

WorkerOptions RoundSession::options(const Runtime& runtime, std::uint64_t layout_seed) {
  WorkerOptions options = runtime.worker;
  options.layout_seed = derive_seed(layout_seed, "environment");
  options.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS=1");
  return options;
}

void RoundSession::lay_out_code(const Runtime& runtime) {
  std::array<std::future<Build>, 2> links;
  for (std::size_t slot = 0; slot < builds_.size(); ++slot) {
    const bool candidate = (slot == 0) == draw_.candidate_in_slot0;
    builds_.at(slot) = arm(static_cast<int>(slot)).build;
    const std::uint64_t seed = draw_.code_seeds.at(candidate ? 1 : 0);
    if (seed != 0 && runtime.relink) {
      const std::filesystem::path folder = linked_.path() / std::to_string(slot);
      std::filesystem::create_directories(folder);
      links.at(slot) = std::async(std::launch::async, [&runtime, folder, seed, base = builds_.at(slot)] {
        return runtime.relink(base, seed, folder);
      });
    }
  }
  for (std::size_t slot = 0; slot < builds_.size(); ++slot) {
    builds_.at(slot) = links.at(slot).valid() ? links.at(slot).get() : builds_.at(slot);
  }
}

Result<Done> RoundSession::prepare() {
  {
    const StageRange range("start of the worker");
    const auto begin = std::chrono::steady_clock::now();
    worker_->await_start();
    start_wait_s_ = seconds_since(begin);
  }
  const StageRange range("load and attach");
  const int first = Random(derive_seed(draw_.layout_seed, "loading")).coin() ? 1 : 0;
  for (const int slot : {first, 1 - first}) {
    if (auto loaded = load_build(*worker_, slot, builds_.at(static_cast<std::size_t>(slot))); !loaded) {
      Failure failure = loaded.failure();
      failure.slot = slot;
      return failure;
    }
  }
  auto attached = worker_->attach(*shared_tensors_);
  if (!attached) {
    runtime_.device_inputs->require_process();
  }
  return attached;
}

void RoundSession::begin_round_again() {
  fresh_ = {};
  new_process_ = false;
  start_wait_s_ = 0;
}

RunRequest RoundSession::block_request(BlockKind kind, std::uint64_t order_seed, int which, int index,
                                       int repetitions) const {
  const std::array<int, 4> slots = block_slots(order_seed, kind, which, index);
  RunRequest request;
  request.order.assign(slots.begin(), slots.end());
  // Each slot sees both input sets in each block; which one first is drawn apart from the slots.
  const int first = Random(derive_seed(order_seed, "sets", static_cast<std::uint64_t>(index))).coin() ? 1 : 0;
  request.sets = {first, first, 1 - first, 1 - first};
  request.repetitions = repetitions;
  request.cache = cache_;
  return request;
}

Result<Block> RoundSession::block(BlockKind kind, std::uint64_t order_seed, int which, int index, int repetitions,
                                  int verify_sample) {
  const StageRange range(kind == BlockKind::warmup ? "warm-up" : verify_sample < 0 ? "timed" : "timed and verified");
  RunRequest request = block_request(kind, order_seed, which, index, repetitions);
  request.verify_after = guard_is_on(Guard::timed_check) ? verify_sample : -1;
  const auto samples = take(request);
  if (!samples) {
    return samples.failure();
  }
  Block block;
  for (const RawSample& sample : *samples) {
    block.samples.push_back({.slot = sample.slot, .ns = static_cast<std::int64_t>(elapsed_ns(sample, target_))});
  }
  return block;
}

Result<std::vector<RawSample>> RoundSession::batch(int slot, int samples, int repetitions, int verify_sample) {
  RunRequest request{.order = std::vector<int>(static_cast<std::size_t>(samples), slot),
                     .repetitions = repetitions,
                     .cache = cache_,
                     .verify_after = guard_is_on(Guard::timed_check) ? verify_sample : -1};
  for (int i = 0; i < samples; ++i) {
    request.sets.push_back(i % kSetsInRound);
  }
  return take(request);
}

Result<std::vector<RawSample>> RoundSession::take(const RunRequest& request, const std::string& what) {
  auto samples = worker_->run(request, inspection(request, what));
  if (!samples) {
    return samples.failure();
  }
  for (const RawSample& sample : *samples) {
    if (auto failure = check_floor(sample, request.repetitions)) {
      return *failure;
    }
  }
  return samples;
}

Inspect RoundSession::inspection(const RunRequest& request, const std::string& what) {
  return [this, &request, what](int sample) -> std::optional<Failure> {
    const StageRange range("compare");
    const auto at = static_cast<std::size_t>(sample);
    const int set = request.sets[at];
    const std::size_t index = draw_.sets.at(static_cast<std::size_t>(set));
    const int slot = request.order[at];
    const std::optional<int> to_check = worker_->inputs_unchanged() ? std::nullopt : std::optional(set);
    CallFindings findings;
    auto wrong =
        inspect_call(*shared_tensors_, family_, *timed_.pool[index], whose(slot), to_check, threads_, &findings);
    looked_at_.insert(index);
    const std::optional<int> of = wrong ? wrong_slot(findings, slot, whose(1 - slot)) : std::nullopt;
    if (!of) {
      return std::nullopt;
    }
    wrong->slot = *of;
    explain(*wrong, timed_.name, 0);
    wrong->evidence =
        fmt::format("{} of {} on {}: {}", what, arm(*of).configuration.label(), timed_.name, wrong->evidence);
    return wrong;
  };
}

std::optional<Failure> RoundSession::check_floor(const RawSample& sample, int repetitions) const {
  const double ns = elapsed_ns(sample, target_);
  if (ns < timed_.floor_ns * repetitions) {
    return Failure{.outcome = Outcome::unstable_clock,
                   .evidence = "a call of " + format_ns(ns / repetitions) + " is below the physical floor of " +
                               format_ns(timed_.floor_ns),
                   .slot = sample.slot};
  }
  return std::nullopt;
}

// Both slots see the same inputs: no code runs between the calls that could search for them.
Result<Done> RoundSession::fresh_calls(std::size_t inputs, int set, int first_slot) {
  const StageRange range("fresh inputs");
  write_fresh(inputs, set);
  for (const int slot : {first_slot, 1 - first_slot}) {
    RunRequest request{
        .order = {slot, slot}, .sets = {1 - set, set}, .repetitions = 1, .cache = cache_, .verify_after = 1};
    refresh(request, set);
    const auto called = take(request, kFreshCall);
    if (!called) {
      return called.failure();
    }
    fresh_.at(static_cast<std::size_t>(slot)).push_back(elapsed_ns(called->back(), target_));
  }
  return Done{};
}

void RoundSession::write_fresh(std::size_t inputs, int set) {
  draw_.sets.at(static_cast<std::size_t>(set)) = inputs;
  worker_->freeze();
  bring_inputs(runtime_, *shared_tensors_, set, *timed_.pool[inputs], threads_);
}

void RoundSession::refresh(RunRequest& request, int set) const {
  request.refresh_set = set;
  request.refresh_from = shared_tensors_->layout().kept.at(static_cast<std::size_t>(set));
}

Result<Done> RoundSession::calls_of_other_arm() {
  const StageRange range("the other arm's outputs");
  for (const std::size_t index : std::exchange(looked_at_, {})) {
    const auto witness = timed_.pool[index]->witness();
    if (witness == nullptr || witness->is_confirmed()) {
      continue;
    }
    const int slot = witness->of == whose(0) ? 1 : 0;
    write_fresh(index, 0);
    RunRequest request{.order = {slot}, .sets = {0}, .repetitions = 1, .cache = cache_, .verify_after = 0};
    refresh(request, 0);
    const std::string what = "call on inputs that the other arm was timed with";
    if (const auto called = worker_->run(request, inspection(request, what)); !called) {
      return called.failure();
    }
  }
  return Done{};
}

std::vector<std::size_t> RoundSession::unseen() const {
  std::vector<std::size_t> unseen;
  for (std::size_t i = 0; i < timed_.pool.size(); ++i) {
    if (std::ranges::find(draw_.sets, i) == draw_.sets.end()) {
      unseen.push_back(i);
    }
  }
  return unseen;
}

Failure by_arm(Failure failure, bool candidate_in_slot0) {
  if (failure.slot >= 0) {
    failure.slot = (failure.slot == 0) == candidate_in_slot0 ? 1 : 0;
  }
  return failure;
}

}  // namespace apo
