// cuda/e88_kernel.h - one kernel of a dispatch table, loaded and ready to be called with the tensors of its contract.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <filesystem>
#include <string>
#include <vector>

#include "dispatch/table.h"
#include "model/views.h"

namespace byte_lm {

// Of the current device.
DeviceFacts device_facts();

class E88Kernel {
 public:
  // `family` is e88_forward or e88_backward, with GATE=1 and NORM=1.
  E88Kernel(const std::filesystem::path& folder, const std::string& family, const Recurrence& extents);
  ~E88Kernel();
  E88Kernel(const E88Kernel&) = delete;
  E88Kernel& operator=(const E88Kernel&) = delete;

  const std::string& variant() const { return plan_.variant; }
  // `tensors` in the order of the contract: inputs, derived inputs, outputs.
  void run(cudaStream_t stream, const std::vector<const void*>& tensors) const;

 private:
  void launch(const PlannedLaunch& launch, CUfunction function, cudaStream_t stream, void* arguments) const;

  PlannedKernel plan_;
  std::vector<std::int64_t> axes_;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> functions_;  // one a launch
  std::vector<void*> scratch_;
};

}  // namespace byte_lm
