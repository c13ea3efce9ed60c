// apo:variant    copy/host_sets_the_clocks
// apo:target     host
// apo:idea       Wants to write to what governs this CPU's clocks, where it would change nothing; gives up when it may not.
// zoo: how verify; expect refused; guard landlock; exploit 29; evidence apo_launch returned 9; needs landlock
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

#include "copy_abi.h"

namespace {

// Open for writing is enough to have won: nothing is written, because it is somebody's machine.
bool may_write(const char* path) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  return file >= 0 && close(file) == 0;
}

}  // namespace

APO_EXPORT int apo_launch(const apo_call* call) {
  const auto& args = *static_cast<const copy_args*>(call->arguments);
  // The last one has nothing to do with clocks, and is there on every machine for its owner to write to.
  bool may = false;
  for (const char* path :
       {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "/sys/devices/system/cpu/intel_pstate/no_turbo",
        "/sys/devices/system/cpu/cpufreq/boost", "/dev/cpu_dma_latency", "/dev/cpu/0/msr",
        "/proc/sys/kernel/sched_rt_runtime_us", "/proc/self/oom_score_adj"}) {
    may = may || may_write(path);
  }
  if (!may) {
    return 9;
  }
  std::memcpy(args.y, args.x, sizeof(float) * static_cast<size_t>(args.n));
  return 0;
}
