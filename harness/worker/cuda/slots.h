// harness/worker/cuda/slots.h - the two slots of a GPU with their tensors and the one stream for both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/device_facts.h"
#include "harness/worker/cuda/driver.h"
#include "harness/worker/cuda/module.h"
#include "harness/worker/cuda/own_kernels.h"
#include "harness/worker/cuda/tensors.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {

class CudaSlots {
 public:
  // Both arguments have to outlive it. `watched`: see make_cuda_device().
  CudaSlots(const cuda::Driver& driver, const DeviceFacts& facts, bool watched);
  CudaSlots(const CudaSlots&) = delete;
  CudaSlots& operator=(const CudaSlots&) = delete;

  cuda::Result create_stream() { return driver_.create_stream(&stream_, cuda::kStreamNonBlocking); }
  // A watched device evicts nothing.
  cuda::Result set_up_eviction() {
    return watched_ ? cuda::kSuccess : eviction_.set_up(driver_, facts_.l2_bytes, facts_.sms);
  }

  CudaModule& at(int slot) { return modules_.at(static_cast<std::size_t>(slot)); }
  const CudaModule& at(int slot) const { return modules_.at(static_cast<std::size_t>(slot)); }
  bool has_host_code() const { return modules_[0].launcher != nullptr || modules_[1].launcher != nullptr; }
  CudaTensors& tensors() { return tensors_; }
  const CudaTensors& tensors() const { return tensors_; }
  const cuda::Driver& driver() const { return driver_; }
  cuda::Stream stream() const { return stream_; }
  bool watched() const { return watched_; }
  std::optional<Failure> check(cuda::Result error, const std::string& what, int slot = -1) const {
    return cuda_failure(driver_, error, what, slot);
  }

  // Poisons the memory that a launch may write, so that no result of an earlier sample is left, and empties the L2.
  cuda::Result prepare(CachePolicy cache, std::size_t images, int slot) const;
  // Resets lines that another sample left persisting in the L2.
  cuda::Result reset_l2(const LaunchPlan& plan);
  // Launches with the tensor that the kernel names persisting in the L2, as far as the device has room for it.
  cuda::Result launch(const CudaKernel& kernel, std::vector<std::uint64_t>& words) const;

  std::uint32_t generation = 0;  // of the samples so far: what the gate waits for
  std::size_t last_image = 0;    // that the last launch worked on

 private:
  const cuda::Driver& driver_;
  const DeviceFacts& facts_;
  bool watched_;
  cuda::Stream stream_ = nullptr;
  L2Eviction eviction_;
  std::array<CudaModule, 2> modules_;
  CudaTensors tensors_;
  std::int64_t persisting_limit_ = -1;  // not set yet
};

}  // namespace apo
