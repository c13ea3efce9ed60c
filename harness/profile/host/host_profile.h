// harness/profile/host/host_profile.h - assembles a profile from the worker's measurements; pure arithmetic, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// The measurements of the worker for a profile. Counters are collected in calls of their own, never in timed ones.
struct ProfilePlan {
  std::vector<int> thread_counts;  // ascending, from 1 to all
  int warmup_calls = 2;
  int timed_calls = 30;    // for each thread count
  int counted_calls = 10;  // at all threads, with the counters on
  double seconds = 0;      // an estimate of the whole
};

// Plans thread counts 1, 2, 4, ... and `cores`, with as many calls as fit in `budget_s`, from 5 to 60 each. `call_ns`
// is a first guess of one call at all threads, e.g. from the correctness run; a value that is not positive counts as 1
// ms.
ProfilePlan plan_host_profile(int cores, double call_ns, double budget_s);

// Single calls at one thread count. Target cuda has one list, whose threads stay 1.
struct CallTimes {
  int threads = 1;
  std::vector<double> ns;
};

struct ProfileInputs {
  Target target = Target::host;
  Configuration configuration;
  std::string workload;
  Work work;                     // compulsory work of one call
  std::vector<CallTimes> times;  // the one with the most threads is the profile's time
  std::vector<Roof> roofs;       // measured at that many threads
  std::int64_t l2_bytes = 0;     // of one core, or of the GPU; 0 when unknown, or when every call finds it cold
  std::int64_t l3_bytes = 0;     // shared
  std::string conditions;        // of the calls, for people
  std::string rung = "timers";
  std::string missing;           // PerfCounters::missing()
  std::vector<Metric> counters;  // sums over counted_calls
  int counted_calls = 0;
};

// Metrics (a quantity that cannot be computed is absent, never NaN or infinite):
//   time (ns, with interval), time_mad_sigma, time_p10, time_p90, spread (MAD sigma / median), threads (host)
//   gflops, gb_per_s, special_per_s, special_count_NAME, intensity (flop/byte), roofline (flop/s attainable at that
//   intensity), roofline_fraction (achieved / attainable) host: time_t<n> (ns), scaling (time at one thread / time at
//   all), serial_fraction (Amdahl, 0..1) floor_flops, floor_special, floor_bytes (ns that this part of the work takes
//   at its roof) floor_serial (ns that the longest chain of dependent operations takes at their measured latencies)
//   busy_flops, busy_special, busy_bytes, busy_serial (each of these floors / time)
//   <counter> per call, ipc, instructions_per_flop
// Added where they are measured: vector_share (host), the counters' and samples' (harness/profile/gpu/gpu_profile.h).
// The floor is the largest of work / roof. A floor may not be too high, so it takes the upper end of the roof's
// interval and, for the bytes, the copy rate of the smallest cache that could hold them all. Flops are held against
// fp32_fma; a GPU's call that undercuts that uses its tensor cores, and is held against theirs.
Profile assemble_profile(const ProfileInputs& inputs);

// Returns the physical floor of a call, for any algorithm of special functions: compulsory flops over the fastest
// arithmetic roof (tensor cores count twice what bf16 reaches, since narrower types do) and bytes over
// the fastest copy roof. 0 when those roofs were not measured. The judge refuses faster calls; kPhysicalSlack covers
// roofs that were measured beside other work.
inline constexpr double kPhysicalSlack = 0.8;
inline constexpr double kTensorSlack = 2;
double physical_floor_ns(const Work& work, const std::vector<Roof>& roofs);

// Names the copy roof for a footprint of `bytes`: l2_copy, llc_copy or memory_copy.
std::string copy_roof_for(double bytes, int threads, std::int64_t l2_bytes, std::int64_t l3_bytes);

}  // namespace apo
