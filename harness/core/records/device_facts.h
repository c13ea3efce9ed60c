// harness/core/records/device_facts.h - a GPU as the harness sees it, and a kernel launch as plain numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/json/fields.h"

namespace apo {

// The worker reads these facts off the device; none comes from a table.
struct DeviceFacts {
  int index = 0;     // CUDA's ordinal
  std::string name;  // "NVIDIA H200"
  std::string uuid;  // "GPU-8-4-4-4-12"
  int major = 0;     // compute capability
  int minor = 0;
  int sms = 0;
  int threads_per_block = 0;
  int threads_per_sm = 0;
  int blocks_per_sm = 0;
  std::int64_t shared_per_block = 0;  // bytes one block may have after opting in
  std::int64_t shared_per_sm = 0;
  std::int64_t registers_per_sm = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t persisting_l2_bytes = 0;  // that may be set aside
  std::int64_t memory_bytes = 0;
  int sm_mhz = 0;      // highest clock
  int memory_mhz = 0;  // highest clock
  std::string driver;  // "580.159.04 (CUDA 13.0)"; only the part in brackets without NVML
  bool operator==(const DeviceFacts&) const = default;

  std::string arch() const { return "sm_" + std::to_string(major * 10 + minor); }
};
APO_FIELDS(DeviceFacts, index, name, uuid, major, minor, sms, threads_per_block, threads_per_sm, blocks_per_sm,
           shared_per_block, shared_per_sm, registers_per_sm, l2_bytes, persisting_l2_bytes, memory_bytes, sm_mhz,
           memory_mhz, driver)

// One kernel of a device variant, ready to be launched.
struct KernelLaunch {
  std::string kernel;
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<std::int64_t, 3> block = {1, 1, 1};
  std::array<std::int64_t, 3> cluster = {1, 1, 1};
  std::int64_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
  int persist = 0;  // which pointer of the argument struct to keep in L2, from 1; 0 = none
  bool operator==(const KernelLaunch&) const = default;
};
APO_FIELDS(KernelLaunch, kernel, grid, block, cluster, shared_bytes, cooperative, persist)

// The launches of one call, in order. Empty for a library variant, which launches its work itself.
struct LaunchPlan {
  std::vector<KernelLaunch> launches;
  bool keeps_state = false;  // the module has variables: they are put back before every sample
  bool library = false;      // a shared object with apo_launch
  bool graph = false;        // all of a sample's calls are launched as one CUDA graph
  bool recorded = false;     // a RecordedCall: `launches` are its kernels, fills and copies left out
  // Nothing of the candidate's runs in the process that calls it.
  bool has_device_code_only() const { return recorded || !launches.empty(); }
  bool operator==(const LaunchPlan&) const = default;
};
APO_FIELDS(LaunchPlan, launches, keeps_state, library, graph, recorded)

// The grids of a device variant's launches for some sizes, from its lines alone: without a build.
struct Grids {
  double blocks = 0;      // of all launches together; 0 of what launches nothing
  std::string refused;    // where a launch has no grid, or one that no GPU takes: one sentence
  std::string condition;  // for apo:requires: it holds where that launch has a grid
};

}  // namespace apo
