// harness/profile/host/perf_counters.h - the kernel's counters for a process, and why one is refused.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/system/files.h"

namespace apo {

// One event of perf_event_open(2).
struct CounterSpec {
  std::string name;
  std::string unit;
  std::uint32_t type = 0;    // PERF_TYPE_*
  std::uint64_t config = 0;  // PERF_COUNT_*
  bool hardware = false;
};

// cycles, instructions, branch_misses, llc_misses (hardware); page_faults, context_switches, task_clock (software).
const std::vector<CounterSpec>& host_counters();

// Counts cycles, and reference_cycles of a constant clock, both only while the process runs in user space.
const std::vector<CounterSpec>& clock_counters();

// Opens one counter for one thread of `pid` and returns its descriptor, or -errno.
using CounterOpener = std::function<int(const CounterSpec&, pid_t thread)>;
int open_counter(const CounterSpec& spec, pid_t thread);

// Explains in one line why the kernel refused, and how to change that. `paranoid` is the value of perf_event_paranoid
// (-1..4).
std::string explain_refusal(const CounterSpec& spec, int error, int paranoid);

// Counts user-space events of a process: every thread that it has now, and every thread and child that these start
// later. A counter that cannot be opened is skipped and named in missing().
class PerfCounters {
 public:
  // pid 0 is the calling process.
  explicit PerfCounters(pid_t pid = 0, const CounterOpener& opener = open_counter,
                        std::vector<CounterSpec> specs = host_counters());

  void start();  // resets to zero, then counts
  void stop();

  // Returns one metric per readable counter, summed over threads. Where the kernel shared a hardware counter, the value
  // is scaled by enabled / running time; a counter that never ran is skipped.
  std::vector<Metric> read() const;

  // Empty when nothing is missing, else one sentence per reason, with the fix.
  std::string missing() const;
  // Returns "perf_event counters" with hardware events, "timers" without.
  std::string rung() const;

 private:
  struct Open {
    std::size_t spec = 0;
    FileDescriptor descriptor;
  };
  void control(unsigned long request);

  std::vector<CounterSpec> specs_;
  std::vector<Open> open_;
  std::vector<std::string> refusals_;  // one a counter
};

// Compares the clock of a process with the constant clock of its reference cycles.
class CpuClock {
 public:
  explicit CpuClock(pid_t pid, const CounterOpener& opener = open_counter);
  std::string missing() const { return counters_.missing(); }
  // Returns the mean ratio of the clocks since the last call; nullopt where a counter is missing or nothing ran.
  std::optional<double> ratio();

 private:
  PerfCounters counters_;
  double cycles_ = 0;
  double reference_cycles_ = 0;
};

}  // namespace apo
