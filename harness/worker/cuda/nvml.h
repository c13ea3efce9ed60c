// harness/worker/cuda/nvml.h - clocks, temperature and reasons for throttling of one GPU; loaded on demand, read only.
#pragma once

#include <optional>
#include <string>

#include "harness/worker/protocol/protocol.h"

namespace apo {

// Absent when this machine has no NVML. Only evidence is lost then.
class Nvml {
 public:
  explicit Nvml(const std::string& uuid);
  std::string driver_version() const;  // "580.159.04", or empty
  std::optional<DeviceState> state() const;

 private:
  struct Functions;
  const Functions* functions_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace apo
