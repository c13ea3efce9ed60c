// harness/worker/code/kernel_code.h - the instructions and source lines of the kernels of a call, each from its own
// cubin.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/worker/code/line_table.h"
#include "harness/worker/code/machine_code.h"

namespace apo {

// A launch of a call.
struct LaunchedKernel {
  std::string name;
  std::int64_t warps = 0;
  std::string_view cubin = {};  // has to outlive it; of two kernels with one name the first one's counts
};

class KernelCode {
 public:
  explicit KernelCode(const std::vector<LaunchedKernel>& kernels);
  // Whether it is one of the call's.
  bool has(const std::string& kernel) const { return codes_.contains(kernel); }
  // Of the kernels of the call; empty for others, such as the driver's own.
  const MachineCode& code(const std::string& kernel) const;
  SourcePlace place(const std::string& kernel, std::uint64_t pc_offset) const;

 private:
  std::map<const char*, LineTable> lines_;  // by cubin
  struct OfKernel {
    MachineCode code;
    const LineTable* lines = nullptr;
  };
  std::map<std::string, OfKernel> codes_;
};

}  // namespace apo
