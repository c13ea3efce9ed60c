// harness/executor/host_call.h - what the host code of a library variant asks for during a call: launches, memory.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "harness/executor/device/interface.h"
#include "harness/executor/finding.h"
#include "harness/executor/memory.h"

namespace apo::executor {

// The call that this process is in. Its host code may launch from threads of its own.
class HostCall {
 public:
  struct Stopped {};  // thrown through the host code by what it called, after a finding
  using Launch = std::function<std::optional<Finding>(const apo_cpu::HostLaunch&)>;

  HostCall(GlobalMemory& memory, Launch launch);
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  ~HostCall();
  std::optional<Finding> found() const { return found_; }
  // The last launch that no GPU takes, if any.
  const std::string& impossible() const { return impossible_; }
  static HostCall*& current();

  // Return values of cudaError_t.
  int launch(const apo_cpu::HostLaunch& asked);
  int allocate(void** memory, std::size_t bytes);
  int release(void* memory);
  int touch(const void* memory, std::size_t bytes, bool writes);
  [[noreturn]] void stop(Finding finding);

 private:
  GlobalMemory& memory_;
  std::mutex launching_;
  Launch launch_;
  std::optional<Finding> found_;
  std::string impossible_;
};

}  // namespace apo::executor
