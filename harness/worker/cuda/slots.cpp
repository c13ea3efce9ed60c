// harness/worker/cuda/slots.cpp - poisons, evicts, resets and launches.
#include "harness/worker/cuda/slots.h"

#include <algorithm>

#include "harness/core/guards.h"

namespace apo {

CudaSlots::CudaSlots(const cuda::Driver& driver, const DeviceFacts& facts, bool watched)
    : driver_(driver),
      facts_(facts),
      watched_(watched),
      tensors_(driver_, watched ? CudaImage::Form::pieces : CudaImage::Form::whole) {}

cuda::Result CudaSlots::prepare(CachePolicy cache, std::size_t images, int slot) const {
  if (watched_) {
    return cuda::kSuccess;
  }
  if (const auto error = guard_is_on(Guard::poison) ? tensors_.poison(images, slot, stream_) : cuda::kSuccess;
      error != cuda::kSuccess) {
    return error;
  }
  if (cache == CachePolicy::cold) {
    return eviction_.queue(driver_, stream_);
  }
  return cuda::kSuccess;
}

cuda::Result CudaSlots::reset_l2(const LaunchPlan& plan) {
  if (facts_.persisting_l2_bytes == 0 || !guard_is_on(Guard::l2)) {
    return cuda::kSuccess;
  }
  const bool persists = std::any_of(plan.launches.begin(), plan.launches.end(),
                                    [](const KernelLaunch& launch) { return launch.persist > 0; });
  const std::int64_t wanted = persists ? facts_.persisting_l2_bytes : 0;
  // Host code of a candidate may have set another limit.
  if (wanted != persisting_limit_ || has_host_code()) {
    if (const auto error = driver_.set_limit(cuda::kLimitPersistingL2CacheSize, static_cast<std::size_t>(wanted))) {
      return error;
    }
    persisting_limit_ = wanted;
  }
  return driver_.reset_persisting_l2();
}

cuda::Result CudaSlots::launch(const CudaKernel& kernel, std::vector<std::uint64_t>& words) const {
  const int kept = kernel.launch.persist - 1;
  const std::int64_t persisting =
      kept < 0 ? 0 : std::min(tensors_.bytes_at(words.at(static_cast<std::size_t>(kept))), facts_.persisting_l2_bytes);
  return launch_kernel(driver_, kernel, words, persisting, stream_);
}

}  // namespace apo
