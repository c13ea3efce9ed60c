// harness/profile/gpu/gpu_profile.h - computes a GPU profile from counters and PC samples of one call; pure arithmetic.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/worker/protocol/profile_results.h"

namespace apo {

// Returns one metric per counter of one call. Names that end with .sum are added up over the launches; others are
// averaged, weighted with gpu__time_duration.sum where that was collected. `calls` calls were counted, one after the
// other.
std::vector<Metric> counter_metrics(const CounterReport& report, int calls);

// Returns the metrics that follow from counters, samples and work, as far as they can be computed:
//   bytes_moved (DRAM, read and written), bytes_over_compulsory, dram_utilisation, l2_hit_rate
//   achieved_occupancy, issue_utilisation, threads_per_instruction
//   bank_conflict_share (of the wavefronts of shared memory), load_efficiency, store_efficiency (bytes used of those
//   that the sectors hold), sectors_per_load, sectors_per_store (of a warp's instruction)
//   local_bytes, atomics (instructions), executed_flops (FP32)
//   pipe_special, pipe_fp32, pipe_tensor, pipe_fp64, pipe_alu, pipe_shared (shared memory), pipe_lsu (all of the load
//   and store unit), pipe_constant (share of the cycles or issue slots of that pipe), l2_utilisation
//   sm_active (share of the time in which an SM has a warp), barrier_wait (ns that a warp waits at one barrier: of the
//   metric barriers, or of what the unit that executes them did)
//   integer_share, conversion_share, fp64_share (of the threads' instructions), shuffled_lanes (votes included),
//   divergent_share (of the branches' targets), constant_loads, requests_per_constant_load
std::vector<Metric> derived_metrics(const Profile& profile, const Work& work);

// Returns stall_<state> of every warp state: its share of the warps that were sampled or counted. stall_selected is no
// stall: such a warp issued.
std::vector<Metric> stall_metrics(const std::vector<StallSample>& samples);
std::vector<Metric> stall_metrics(const std::vector<Metric>& counters);

// From how often the instructions of a call are executed:
//   barriers (of a block, counted by warps), barriers_per_warp (that one warp passes in a call; over the launches they
//   add up), barriers_per_step (of the work's recurrence, where it has one)
std::vector<Metric> instruction_metrics(const InstructionReport& report, const Work& work);
// Returns what the instructions were counted to waste or to do, by line, where it is more than nothing; see LineCount.
std::vector<LineCount> line_counts(const InstructionReport& report);

// Returns the launches of the call that was counted, in their order, with what the samples say of their kernels. Names
// of C++ functions are as in the source.
std::vector<ProfiledLaunch> profiled_launches(const CounterReport& report, const std::vector<StallSample>& samples);

// Keeps the `most` most frequent samples, and the text of their lines from `sources`. Lines of other files have no
// text.
void set_samples(Profile& profile, std::vector<StallSample> samples, std::size_t most,
                 const std::vector<SourceFile>& sources);

}  // namespace apo
