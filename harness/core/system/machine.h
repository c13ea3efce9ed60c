// harness/core/system/machine.h - the facts of this machine that belong beside every number.
#pragma once

#include "harness/core/records/records.h"

namespace apo {

Machine describe_host();
Machine describe_cuda(const DeviceFacts& facts);           // its id is the GPU's UUID
DeviceFacts device_facts(const Machine& machine);          // that describe_cuda() made, here or elsewhere
Toolchain describe_compiler(const std::string& compiler);  // throws EnvironmentError when it does not run

std::vector<int> usable_cpus();  // of this process's affinity mask
// Keeps the calling thread, and what it starts, on these CPUs. Returns false where the system does not allow it.
bool allow_cpus(const std::vector<int>& cpus);

// Asks the scheduler (Linux 6.12 and later) to let the calling thread, and what it starts, run soon and not for long
// when others want its CPU too; 0 s: as by default.
void ask_for_slices(double seconds);
inline constexpr double kShortSlice = 2e-4;

// Keeps the calling thread, and threads that it starts, on one CPU and on short slices while it lives, where the system
// allows it.
class OnCpu {
 public:
  explicit OnCpu(int cpu);
  ~OnCpu();
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;

 private:
  std::vector<int> before_;  // empty: nothing changed
};

// Cumulative CPU time of the machine from /proc/stat, in ticks; all zero where it cannot be read.
struct CpuTicks {
  std::uint64_t total = 0;
  std::uint64_t steal = 0;
};
CpuTicks read_cpu_ticks();
// Percentage of the time between the two readings that the hypervisor gave to others.
double steal_percent(const CpuTicks& before, const CpuTicks& after);

// Memory of this machine, whatever this process may use; 0 where the system does not tell.
std::int64_t physical_memory_bytes();

// Bytes that a process has mapped, resident or not; 0 when there is no such process.
std::int64_t address_space(int pid);
// The same without what it cannot write to or shares.
std::int64_t data_bytes(int pid);

}  // namespace apo
