// harness/evaluate/windows/arm_process.cpp - links, loads, fills the tensors, runs windows, inspects.
#include "harness/evaluate/windows/arm_process.h"

#include <string>
#include <utility>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/evaluate/correctness/inspect_call.h"
#include "kernels/random.h"

namespace apo {
namespace {

WorkerOptions options_of(const Runtime& runtime, std::vector<int> cpus, std::uint64_t layout_seed) {
  WorkerOptions options = runtime.worker;
  options.cpus = std::move(cpus);
  options.layout_seed = derive_seed(layout_seed, "environment");
  options.await_start = false;
  return options;
}

}  // namespace

ArmProcess::ArmProcess(const Runtime& runtime, const TimedArm& arm, const Axes& axes, std::vector<int> cpus,
                       std::uint64_t layout_seed, std::shared_ptr<MemoryFile> memory)
    : runtime_(runtime),
      arm_(arm),
      axes_(axes),
      worker_(options_of(runtime, std::move(cpus), layout_seed)),
      memory_(std::move(memory)),
      build_(arm.build) {}

void ArmProcess::link(std::uint64_t code_seed) {
  build_ = arm_.build;
  if (code_seed != 0 && runtime_.relink) {
    const std::filesystem::path folder = linked_.path() / std::to_string(links_++);
    std::filesystem::create_directories(folder);
    build_ = runtime_.relink(arm_.build, code_seed, folder);
  }
}

Result<Done> ArmProcess::load() {
  worker_.await_start();
  return load_build(worker_, 0, build_);
}

Result<Done> ArmProcess::attach(int calls, std::uint64_t layout_seed) {
  const SharedTensorsSpec spec = shared_tensors_spec(
      *runtime_.family, axes_, 1, runtime_.scratch(arm_.configuration, axes_), {}, layout_seed, Target::host);
  tensors_.reset();  // before others are in its memory
  tensors_ = std::make_unique<WindowTensors>(spec, calls, memory_);
  auto attached = worker_.attach(tensors_->layout(), tensors_->fd());
  worker_.freeze();
  return attached;
}

Result<WindowTimes> ArmProcess::window(std::span<const CheckedPointer> inputs, CachePolicy cache) {
  APO_CHECK(std::ssize(inputs) == tensors_->calls());
  for (int call = 0; call < tensors_->calls(); ++call) {
    share_inputs(tensors_->call(call), 0, *runtime_.family, inputs[static_cast<std::size_t>(call)]->inputs,
                 runtime_.threads);
  }
  tensors_->poison_outputs();
  if (cache == CachePolicy::cold) {
    tensors_->evict();
  }
  return worker_.run_window();
}

std::optional<Failure> ArmProcess::inspect(int call, const CheckedInputs& inputs, int threads) {
  auto failure = inspect_call(tensors_->call(call), *runtime_.family, axes_, inputs.expected(), 0, threads);
  if (failure) {
    failure->slot = 0;
  }
  return failure;
}

std::optional<Failure> ArmProcess::inspect_process() {
  if (const auto damage = guard_is_on(Guard::guard_zones) ? tensors_->check_guards() : std::nullopt) {
    return Failure{.outcome = Outcome::incorrect, .evidence = damage->sentence(), .slot = 0};
  }
  auto changed = worker_.check_code();
  if (changed) {
    changed->slot = 0;
  }
  return changed;
}

}  // namespace apo
