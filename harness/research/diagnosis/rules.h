// harness/research/diagnosis/rules.h - turns a profile into named bottlenecks, each with a bound on the gain.
#pragma once

#include <optional>
#include <vector>

#include "harness/research/diagnosis/diagnosis.h"

namespace apo {

// A rule returns nothing when its evidence is absent. Its bound is Amdahl's: the speed-up if the affected part of the
// time cost nothing, or ran at a measured roof; never above time / floor where the floor is known.
using Rule = std::optional<Bottleneck>(const Diagnosis&);

Rule not_vectorised, libm_special_functions, recomputed_special_functions, idle_cores, thread_overhead, memory_bound,
    latency_bound, instruction_overhead, per_step_overhead, segment_cache_traffic, launch_overhead, page_faults,
    near_floor;
// Target cuda, from the launch and the measured roofs (rules_cuda.cpp).
Rule fp32_bound, special_function_bound, waiting_steps, low_occupancy, tiny_blocks, tail_wave, uneven_blocks;
// Target cuda, causes from hardware counters and sampled stalls (rules_causes.cpp).
Rule uncoalesced_access, excess_dram_traffic, bank_conflicts, register_spills, divergent_branches, idle_lanes, atomics,
    double_precision, integer_arithmetic, constant_serialisation, instruction_fetch_stalls, fence_stalls,
    sleeping_warps, uneven_warps;
// Target cuda, units and waits from the same (rules_cuda.cpp).
Rule dram_bound, l2_bound, shared_bandwidth, special_function_pipe, fp32_pipe, tensor_pipe, shuffle_bound, issue_bound,
    barrier_stalls, memory_latency_stalls, shared_memory_stalls, unused_occupancy;

// Returns every bottleneck that is worth half a percent: causes that deserve an experiment, then limits, then
// remainders, each with the largest bound first.
std::vector<Bottleneck> diagnose(const Diagnosis& diagnosis);

}  // namespace apo
