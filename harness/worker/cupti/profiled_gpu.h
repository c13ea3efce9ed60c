// harness/worker/cupti/profiled_gpu.h - names the GPU that a profiler of CUPTI works on.
#pragma once

#include <chrono>
#include <string>

#include "harness/worker/cuda/driver.h"
#include "harness/worker/cupti/cupti.h"

namespace apo {

// The profiled GPU. Its context is current in this thread.
struct ProfiledGpu {
  int device = 0;
  int index = 0;  // CUDA's ordinal
  std::string uuid;
  cupti::Context context = nullptr;
};

// The longest wait for another worker that profiles the same GPU.
inline constexpr std::chrono::milliseconds kProfilerPatience{60'000};

}  // namespace apo
