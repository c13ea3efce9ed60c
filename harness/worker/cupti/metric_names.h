// harness/worker/cupti/metric_names.h - which hardware counters are collected, and why a name is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apo {

// Five passes on GH100: time, DRAM and L2 traffic, occupancy, issue slots, idle SMs, pipes, bank conflicts, coalescing,
// local memory, atomics, constants, branches, and what kinds of instructions there are.
const std::vector<std::string>& default_counters();
// The share of the warps in each state, in place of PC samples:
// smsp__average_warps_issue_stalled_*_per_issue_active.ratio.
const std::vector<std::string>& stall_counters();
// All of the above, L1 hit rates, requests, and the two throughput breakdowns: some 20 passes.
const std::vector<std::string>& full_counters();

// Returns "dram__bytes_read" for "dram__bytes_read.sum".
std::string base_metric(std::string_view metric);
// Returns "barrier" for a name in stall_counters(), or for a stall reason of PC sampling; "" for other names.
std::string stall_of_counter(std::string_view metric);
std::string stall_of_sample(std::string_view reason);
// True for the second reason of a state, which counts samples of cycles in which the scheduler issued nothing.
bool is_not_issued(std::string_view reason);

// The unit of the value, "byte", "ns", "%", ...; "" where the name does not tell it.
std::string metric_unit(std::string_view metric);
// True for a part of a whole, which exceeds 100 % only when its counters come from different passes.
bool is_percentage(std::string_view metric);

// Returns the closest of `names`, by edit distance, else by shared words; "" when nothing is close.
std::string nearest_metric(std::string_view name, const std::vector<std::string>& names);
// Explains why `metric` is refused. `rollups` are those of its base ("", ".sum", ...) when the base is one of `bases`.
std::string explain_refused(std::string_view metric, const std::vector<std::string>& bases,
                            const std::vector<std::string>& rollups);

}  // namespace apo
