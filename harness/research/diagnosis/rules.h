// harness/research/diagnosis/rules.h - turns the evidence of a profile into named bottlenecks, each with a bound on
// the gain.
#pragma once

#include <optional>
#include <vector>

#include "harness/research/diagnosis/diagnosis.h"

namespace apo {

// A rule returns nothing when its evidence is absent. Its bound is Amdahl's: the speed-up if the affected part of the
// time cost nothing, or ran at a measured roof; never above time / floor where the floor is known.
using Rule = std::optional<Bottleneck> (*)(const Diagnosis&);

std::optional<Bottleneck> not_vectorised(const Diagnosis& diagnosis);  // vector_share, of the machine code
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
std::optional<Bottleneck> near_floor(const Diagnosis& diagnosis);
// Target cuda, from the launch and the measured roofs (rules_cuda.cpp).
std::optional<Bottleneck> fp32_bound(const Diagnosis& diagnosis);              // metric busy_flops
std::optional<Bottleneck> special_function_bound(const Diagnosis& diagnosis);  // metric busy_special
std::optional<Bottleneck> waiting_steps(const Diagnosis& diagnosis);           // no unit is busy; latency-bound
std::optional<Bottleneck> low_occupancy(const Diagnosis& diagnosis);           // occupancy
std::optional<Bottleneck> tiny_blocks(const Diagnosis& diagnosis);             // block_threads
std::optional<Bottleneck> tail_wave(const Diagnosis& diagnosis);               // idle_share; idle-sms, tail-wave
std::optional<Bottleneck> uneven_blocks(const Diagnosis& diagnosis);           // sm_active
// Target cuda, causes from hardware counters and sampled stalls (rules_causes.cpp).
std::optional<Bottleneck> uncoalesced_access(const Diagnosis& diagnosis);   // load_efficiency, store_efficiency
std::optional<Bottleneck> excess_dram_traffic(const Diagnosis& diagnosis);  // bytes_moved
std::optional<Bottleneck> bank_conflicts(const Diagnosis& diagnosis);       // bank_conflict_share
std::optional<Bottleneck> register_spills(const Diagnosis& diagnosis);     // local memory; register-spills, local-array
std::optional<Bottleneck> divergent_branches(const Diagnosis& diagnosis);  // threads_per_instruction, divergent_share
std::optional<Bottleneck> idle_lanes(const Diagnosis& diagnosis);          // the same without divergence
std::optional<Bottleneck> atomics(const Diagnosis& diagnosis);             // atomics
std::optional<Bottleneck> double_precision(const Diagnosis& diagnosis);    // fp64_share, pipe_fp64
std::optional<Bottleneck> integer_arithmetic(const Diagnosis& diagnosis);  // integer_share
std::optional<Bottleneck> constant_serialisation(const Diagnosis& diagnosis);    // requests_per_constant_load
std::optional<Bottleneck> instruction_fetch_stalls(const Diagnosis& diagnosis);  // stall_no_instruction
std::optional<Bottleneck> fence_stalls(const Diagnosis& diagnosis);              // stall_membar
std::optional<Bottleneck> sleeping_warps(const Diagnosis& diagnosis);            // stall_sleeping
std::optional<Bottleneck> uneven_warps(const Diagnosis& diagnosis);              // stall_barrier, barrier_wait
// Target cuda, units and waits from the same (rules_counters.cpp).
std::optional<Bottleneck> dram_bound(const Diagnosis& diagnosis);             // dram_utilisation
std::optional<Bottleneck> l2_bound(const Diagnosis& diagnosis);               // l2_utilisation
std::optional<Bottleneck> shared_bandwidth(const Diagnosis& diagnosis);       // pipe_shared
std::optional<Bottleneck> special_function_pipe(const Diagnosis& diagnosis);  // pipe_special
std::optional<Bottleneck> fp32_pipe(const Diagnosis& diagnosis);              // pipe_fp32
std::optional<Bottleneck> tensor_pipe(const Diagnosis& diagnosis);            // pipe_tensor
std::optional<Bottleneck> shuffle_bound(const Diagnosis& diagnosis);          // shuffled_lanes
std::optional<Bottleneck> issue_bound(const Diagnosis& diagnosis);            // issue_utilisation
std::optional<Bottleneck> barrier_stalls(const Diagnosis& diagnosis);         // stall_barrier
std::optional<Bottleneck> memory_latency_stalls(const Diagnosis& diagnosis);  // stall_long_scoreboard
std::optional<Bottleneck> shared_memory_stalls(const Diagnosis& diagnosis);   // stall_short_scoreboard, mio_throttle
std::optional<Bottleneck> unused_occupancy(const Diagnosis& diagnosis);       // achieved_occupancy

const std::vector<Rule>& diagnosis_rules();

// Returns every bottleneck that is worth half a percent: causes that deserve an experiment, then limits, then
// remainders, each with the largest bound first.
std::vector<Bottleneck> diagnose(const Diagnosis& diagnosis);

}  // namespace apo
