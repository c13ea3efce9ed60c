// harness/research/rules.h - diagnosis: from the evidence of a profile to named bottlenecks, each with a bound on the
// gain.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/core/records.h"

namespace apo {

// What the rules look at. The profile is the incumbent's.
struct Diagnosis {
  Profile profile;
  Work work;  // compulsory work of one call
  Axes axes;
  Variant incumbent;
  std::int64_t units = 1;     // Family::unit_count
  double scratch_bytes = 0;   // sum of the incumbent's apo:scratch for these axes
  std::int64_t l2_bytes = 0;  // of one core
};

// A rule returns nothing when its evidence is absent. Its bound is Amdahl's: the speed-up if the part of the time that
// the evidence points at cost nothing, or ran at a measured roof; never above time / floor where the floor is known.
using Rule = std::optional<Bottleneck> (*)(const Diagnosis&);

std::optional<Bottleneck> not_vectorised(const Diagnosis& diagnosis);
std::optional<Bottleneck> libm_special_functions(const Diagnosis& diagnosis);
std::optional<Bottleneck> recomputed_special_functions(const Diagnosis& diagnosis);
std::optional<Bottleneck> idle_cores(const Diagnosis& diagnosis);
std::optional<Bottleneck> thread_overhead(const Diagnosis& diagnosis);
std::optional<Bottleneck> memory_bound(const Diagnosis& diagnosis);
std::optional<Bottleneck> latency_bound(const Diagnosis& diagnosis);
std::optional<Bottleneck> instruction_overhead(const Diagnosis& diagnosis);
std::optional<Bottleneck> per_step_overhead(const Diagnosis& diagnosis);
std::optional<Bottleneck> segment_cache_traffic(const Diagnosis& diagnosis);
std::optional<Bottleneck> launch_overhead(const Diagnosis& diagnosis);
std::optional<Bottleneck> page_faults(const Diagnosis& diagnosis);
std::optional<Bottleneck> barrier_stalls(const Diagnosis& diagnosis);          // cuda: metric stall_barrier
std::optional<Bottleneck> memory_latency_stalls(const Diagnosis& diagnosis);   // cuda: metric stall_long_scoreboard
std::optional<Bottleneck> fp32_bound(const Diagnosis& diagnosis);              // cuda: metric busy_flops
std::optional<Bottleneck> special_function_bound(const Diagnosis& diagnosis);  // cuda: metric busy_special
std::optional<Bottleneck> waiting_steps(const Diagnosis& diagnosis);           // cuda: no unit is busy; latency-bound
std::optional<Bottleneck> low_occupancy(const Diagnosis& diagnosis);           // cuda: metric occupancy
std::optional<Bottleneck> tail_wave(const Diagnosis& diagnosis);               // cuda: metric idle_share
// Target cuda, from hardware counters and sampled stalls (rules_counters.cpp).
std::optional<Bottleneck> dram_bound(const Diagnosis& diagnosis);      // metric dram_utilisation
std::optional<Bottleneck> bank_conflicts(const Diagnosis& diagnosis);  // metric bank_conflict_share
std::optional<Bottleneck> shared_memory_stalls(
    const Diagnosis& diagnosis);                                           // stall_short_scoreboard, stall_mio_throttle
std::optional<Bottleneck> uncoalesced_access(const Diagnosis& diagnosis);  // load_efficiency, store_efficiency
std::optional<Bottleneck> idle_lanes(const Diagnosis& diagnosis);          // threads_per_instruction
std::optional<Bottleneck> unused_occupancy(const Diagnosis& diagnosis);    // achieved_occupancy
std::optional<Bottleneck> register_spills(const Diagnosis& diagnosis);     // local memory instructions
std::optional<Bottleneck> special_function_pipe(const Diagnosis& diagnosis);  // pipe_special
std::optional<Bottleneck> fp32_pipe(const Diagnosis& diagnosis);              // pipe_fp32
std::optional<Bottleneck> tensor_pipe(const Diagnosis& diagnosis);            // pipe_tensor
std::optional<Bottleneck> atomics(const Diagnosis& diagnosis);                // atomics
std::optional<Bottleneck> issue_bound(const Diagnosis& diagnosis);            // issue_utilisation
std::optional<Bottleneck> near_floor(const Diagnosis& diagnosis);
std::optional<Bottleneck> noise(const Diagnosis& diagnosis);

const std::vector<Rule>& diagnosis_rules();

// Every bottleneck that is there, the largest bound first.
std::vector<Bottleneck> diagnose(const Diagnosis& diagnosis);

// What any change could give at most: time / floor; infinite when the floor is unknown.
double floor_bound(const Profile& profile);

// 1 / ((1 - share) + share / speedup); at most 1000 where the speed-up is infinite. A share that is no number counts as
// 0.
double amdahl(double share, double speedup);

}  // namespace apo
