// dispatch/table.h - asks a table that `apo export --dispatch --with-sources` wrote which kernel serves a call, and
// compiles it. Needs no GPU: the device is described by its facts.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace byte_lm {

struct DeviceFacts {
  std::string id;                       // "GPU-..."
  std::string model;                    // "NVIDIA H200"
  std::int64_t compute_capability = 0;  // 90
  std::int64_t sms = 0;
  std::int64_t shared_max = 0;
  std::int64_t max_threads = 0;
};

struct PlannedLaunch {
  std::string kernel;
  std::array<std::int64_t, 3> grid, block, cluster;
  std::int64_t shared_bytes = 0;
  bool cooperative = false;
  std::int64_t l2_persist = 0;  // the argument to keep in L2, from 1; 0: none
};

struct PlannedKernel {
  std::string variant;
  std::filesystem::path source;
  std::vector<std::string> constants;  // "kN=32"
  std::vector<std::int64_t> scratch;   // bytes
  std::vector<PlannedLaunch> launches;
};

// `axes` are the values of the family's axes in their order. Compiles the table's header with g++, or what CXX names.
// Throws UserError where the folder has no table of the family or the table no kernel for the call.
PlannedKernel plan_kernel(const std::filesystem::path& folder, const std::string& family,
                          const std::vector<std::int64_t>& axes, const DeviceFacts& device);

// A cubin of the kernel, compiled with nvcc.
std::filesystem::path build_kernel(const PlannedKernel& kernel, std::int64_t compute_capability);

}  // namespace byte_lm
