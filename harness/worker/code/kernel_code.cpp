// harness/worker/code/kernel_code.cpp - reads each cubin once.
#include "harness/worker/code/kernel_code.h"

namespace apo {

KernelCode::KernelCode(const std::vector<LaunchedKernel>& kernels) {
  for (const LaunchedKernel& one : kernels) {
    if (!has(one.name)) {
      const LineTable& lines = lines_.try_emplace(one.cubin.data(), one.cubin).first->second;
      codes_.emplace(one.name, OfKernel{MachineCode(one.cubin, one.name), &lines});
    }
  }
}

const MachineCode& KernelCode::code(const std::string& kernel) const {
  static const MachineCode kNone;
  const auto found = codes_.find(kernel);
  return found == codes_.end() ? kNone : found->second.code;
}

SourcePlace KernelCode::place(const std::string& kernel, std::uint64_t pc_offset) const {
  const auto found = codes_.find(kernel);
  return found == codes_.end() ? SourcePlace() : found->second.lines->place(kernel, pc_offset);
}

}  // namespace apo
