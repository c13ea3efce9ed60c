// harness/runtime/device_inputs.cpp - packs a set into one file, and has a process of its own upload it.
#include "harness/runtime/device_inputs.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "harness/core/error.h"
#include "harness/runtime/tensor_data.h"

namespace apo {
namespace {

constexpr std::int64_t kAlignment = 256;  // cudaMalloc's
constexpr std::int64_t kPartOfGpu = 8;    // of the GPU, at most

// Where each input begins in the memory of its set; the last number is the size of that memory.
std::vector<std::int64_t> offsets_of(const std::vector<NamedView>& views) {
  std::vector<std::int64_t> offsets = {0};
  for (const NamedView& input : views) {
    offsets.push_back(offsets.back() + (input.view.bytes() + kAlignment - 1) / kAlignment * kAlignment);
  }
  return offsets;
}

}  // namespace

bool DeviceInputs::start(const WorkerOptions& gpu) {
  kept_.clear();
  bytes_ = 0;
  process_.reset();
  WorkerOptions options = gpu;
  options.environment.emplace_back("CUDA_DEVICE_MAX_CONNECTIONS=1");
  try {
    process_ = std::make_unique<Worker>(std::move(options));
  } catch (const EnvironmentError& error) {
    // A GPU that is gone is told by the next round.
    spdlog::debug("inputs are uploaded in every round: {}", error.what());
  }
  return process_ != nullptr && process_->device().has_value();
}

bool DeviceInputs::add(const Family& family, const CheckedPointer& checked, int threads) {
  const std::vector<NamedView> views = input_views(family, checked->inputs);
  std::vector<std::int64_t> offsets = offsets_of(views);
  const std::int64_t bytes = offsets.back();
  offsets.pop_back();
  file_.reserve(bytes);
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i].view.copy_to(file_.data() + offsets[i], threads);
  }
  const auto handle = process_->keep(bytes, file_.fd());
  if (!handle) {
    spdlog::debug("inputs are uploaded in every round: {}", handle.failure().evidence);
    return false;
  }
  kept_[checked.get()] = {.checked = checked, .where = {.handle = *handle, .offsets = std::move(offsets)}};
  bytes_ += bytes;
  return true;
}

void DeviceInputs::keep(const Family& family, const WorkerOptions& gpu, const std::vector<CheckedPointer>& sets,
                        int threads) {
  const std::lock_guard lock(mutex_);
  std::int64_t missing = 0;
  std::int64_t all = 0;
  for (const CheckedPointer& checked : sets) {
    const std::int64_t bytes = offsets_of(input_views(family, checked->inputs)).back();
    missing += is_kept(*checked) ? 0 : bytes;
    all += bytes;
  }
  const bool alive = process_ != nullptr && process_->alive();
  if (all == 0 || (alive && missing == 0)) {
    return;
  }
  if (!alive && !start(gpu)) {
    return;
  }
  const std::int64_t most = process_->device()->memory_bytes / kPartOfGpu;
  if (all > most || (bytes_ + missing > most && !start(gpu))) {
    return;
  }
  for (const CheckedPointer& checked : sets) {
    if (!is_kept(*checked) && !add(family, checked, threads)) {
      return;
    }
  }
}

KeptInputs DeviceInputs::find(const CheckedInputs& inputs) const {
  const std::lock_guard lock(mutex_);
  return is_kept(inputs) && process_->alive() ? kept_.at(&inputs).where : KeptInputs();
}

// Other inputs may have come to the address of some that are gone.
bool DeviceInputs::is_kept(const CheckedInputs& inputs) const {
  const auto found = kept_.find(&inputs);
  return found != kept_.end() && !found->second.checked.expired();
}

void DeviceInputs::require_process() const {
  const std::lock_guard lock(mutex_);
  if (process_ != nullptr && !process_->alive()) {
    throw EnvironmentError("the process that keeps inputs on the GPU has ended", "run the same command again");
  }
}

}  // namespace apo
