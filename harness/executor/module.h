// harness/executor/module.h - a device variant that was built for the CPU, and the launches of its kernels.
//
// The object exports apo_cpu_bind, for each kernel apo_cpu_run_<kernel>(const void* arguments), and the thread-local
// apo_cpu_static_end and apo_cpu_dynamic_shared, which bound its shared memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/executor/block.h"
#include "harness/executor/finding.h"
#include "harness/executor/memory.h"

namespace apo::executor {

// Settings of how the threads of a launch are drawn and spread.
struct Schedule {
  std::uint64_t seed = 0;
  int cpus = 1;
};

// What the host code of a library variant returns, and a launch that failed in it.
struct HostAnswer {
  int code = 0;
  std::string impossible;
};

class Module {
 public:
  // Returns null, with the reason, for a file that is no such object.
  static std::unique_ptr<Module> open(const std::string& path, std::string& why);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  // Names the pointers of the argument struct, in order.
  const char* const* buffer_names() const;
  bool has_kernel(const std::string& kernel) const;
  bool uses_heap() const;
  // Calls apo_launch of a library variant with an apo_call of kernels/abi.h. Returns the finding that ended it.
  std::optional<Finding> call_host(const void* call, GlobalMemory& memory, const Schedule& schedule,
                                   HostAnswer& answer) const;
  // Runs all blocks of `call`. Returns the finding of the first block in their order, if any. Fills in the fields that
  // depend on the object, the entry of a kernel that it exports among them.
  std::optional<Finding> launch(KernelCall call, GlobalMemory& memory, const Schedule& schedule) const;

 private:
  explicit Module(void* library) : library_(library) {}
  template <class Type>
  Type find(const std::string& name) const;
  SharedPlace shared_place(std::size_t dynamic_bytes) const;

  void* library_;
};

}  // namespace apo::executor
