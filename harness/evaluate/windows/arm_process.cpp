// harness/evaluate/windows/arm_process.cpp - links, loads, fills the tensors, runs windows, inspects.
#include "harness/evaluate/windows/arm_process.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/guards.h"
#include "harness/worker/protocol/cold_cache.h"
#include "kernels/random.h"

namespace apo {
namespace {

constexpr std::byte kNothing{0xFF};

}  // namespace

WindowTensors::WindowTensors(SharedTensorsSpec spec, int calls, std::shared_ptr<MemoryFile> memory)
    : memory_(std::move(memory)) {
  spec.foreign_code = false;  // all of the memory is cleared here
  if (calls > 1) {            // close together, so that a window does not wait for the addresses of many pages
    spec.guard_bytes = 128;
    spec.pads = 16;
  }
  if (calls == 0) {
    spec.buffers.clear();
  }
  layout_ = SharedTensors(spec, nullptr).layout();
  layout_.copies = calls;
  layout_.stride = layout_.bytes + (layout_.bytes / spec.alignment % 2 == 0 ? spec.alignment : 0);
  // Other layouts of the process find their memory there: as much more as the largest gaps take.
  const std::int64_t gaps = std::ssize(layout_.buffers) * spec.pads * spec.alignment;
  const bool is_new = memory_->bytes() < layout_.file_bytes();
  if (is_new) {
    memory_->reserve(layout_.file_bytes() + gaps);
    memory_->populate(layout_.file_bytes());
  } else {
    std::fill(memory_->data(), memory_->data() + memory_->bytes(), kNothing);
  }
  for (int i = 0; i < calls; ++i) {
    calls_.push_back(std::make_unique<SharedTensors>(spec, memory_, i * layout_.stride));
    for (const BufferPlace& place : layout_.buffers) {
      if (is_new && place.role == BufferRole::scratch) {  // zeros would look like what was cleared
        std::fill_n(memory_->data() + i * layout_.stride + place.offset, place.bytes, kNothing);
      }
    }
  }
}

void WindowTensors::poison_outputs() {
  for (const auto& call : calls_) {
    call->poison_outputs();
  }
}

void WindowTensors::evict() const {
  std::vector<std::span<const std::byte>> buffers;
  for (int i = 0; i < layout_.copies; ++i) {
    for (const BufferPlace& place : layout_.buffers) {
      buffers.emplace_back(memory_->data() + i * layout_.stride + place.offset, static_cast<std::size_t>(place.bytes));
    }
  }
  apo::evict(buffers);
}

std::optional<GuardDamage> WindowTensors::check_guards() const {
  for (const auto& call : calls_) {
    if (auto damage = call->check_guards()) {
      return damage;
    }
  }
  return std::nullopt;
}

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
                       std::uint64_t layout_seed)
    : runtime_(runtime),
      arm_(arm),
      axes_(axes),
      threads_(std::min(runtime.threads, static_cast<int>(cpus.size()))),
      worker_(options_of(runtime, std::move(cpus), layout_seed)),
      memory_(std::make_shared<MemoryFile>()),
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
    share_inputs(tensors_->call(call), 0, *runtime_.family, inputs[static_cast<std::size_t>(call)]->inputs, threads_);
  }
  tensors_->poison_outputs();
  if (cache == CachePolicy::cold) {
    tensors_->evict();
  }
  return worker_.run_window(deadline_of(runtime_, axes_));
}

std::optional<Failure> ArmProcess::inspect(int call, const CheckedInputs& inputs, const std::string& whose,
                                           CallFindings& findings) {
  return inspect_call(tensors_->call(call), *runtime_.family, inputs, whose, 0, threads_, &findings);
}

std::optional<Failure> ArmProcess::hold_all(int call, const CheckedInputs& inputs, const std::string& whose,
                                            const TypicalErrors& typical, CallFindings& findings) {
  return apo::hold_all(tensors_->call(call), *runtime_.family, inputs, whose, typical, threads_, findings);
}

OutputViews ArmProcess::outputs(int call) const {
  return view_outputs(tensors_->call(call), *runtime_.family);
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
