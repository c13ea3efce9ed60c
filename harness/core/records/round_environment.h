// harness/core/records/round_environment.h - what a round saw of the machine, and what its times are checked against.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/core/records/conditions.h"

namespace apo {

// Fields are absent where nothing was read: on target host, in journals older than the field, in a later round of one
// process.
struct RoundEnvironment {
  std::optional<double> steal_percent;  // CPU time that the hypervisor gave to others
  std::optional<Layout> layout;
  std::optional<double> process_start_s;
  // How long the round waited for its workers to start, for looks at outputs, and for calls that are not timed.
  std::optional<double> start_wait_s;
  bool same_process = false;                // a later round of one process
  std::optional<double> waited_for_turn_s;  // for other processes on the device
  std::optional<double> empty_window_ns;    // target host: what a window takes without a call in it
  std::optional<bool> graph;                // target cuda: all calls of a sample were launched as one CUDA graph
  std::optional<bool> several_cpus;         // target host: both arms had all CPUs, and windows of one call
  std::optional<bool> second_clock;         // older journals: did CUPTI Activity agree with the events?
  std::optional<double> sm_mhz_before;      // after the warm-up
  std::optional<double> sm_mhz_after;
  std::optional<std::uint64_t> throttle_bits;  // NVML clock event reasons seen during the round
  std::optional<double> celsius;
  std::optional<double> watts;
  bool operator==(const RoundEnvironment&) const = default;
};

// Nanoseconds that a round measured on one workload besides its samples; they are of one call unless stated otherwise.
struct CrossChecks {
  std::optional<double> activity_incumbent;  // by CUPTI Activity
  std::optional<double> activity_candidate;
  std::optional<double> fresh_incumbent;  // on inputs made right before the call
  std::optional<double> fresh_candidate;
  std::optional<double> fresh_work;             // CPU time of the candidate's beyond that of a call on a known input
  std::optional<double> unaccounted;            // of a sample, by the parent's clock, beyond the sample's stamps
  std::optional<double> unaccounted_candidate;  // the same of its own samples
  std::optional<double> alone_incumbent;        // in a process without the candidate
  std::optional<double> alone_unaccounted;
  std::optional<double> alone_fresh;
  std::optional<double> alone_fresh_work;
  bool operator==(const CrossChecks&) const = default;
};

// Calls visit(name, field) for every field, under the names of the journal's column `round.environment` and of the
// documents. When a round has several workloads, the column appends "_" and the workload's name to the fields of
// CrossChecks.
template <class Environment, class Visit>
void visit_environment(Environment& environment, const Visit& visit) {
  visit("steal_percent", environment.steal_percent);
  visit("random_layout", environment.layout);
  visit("process_start_s", environment.process_start_s);
  visit("start_wait_s", environment.start_wait_s);
  visit("same_process", environment.same_process);
  visit("waited_for_turn_s", environment.waited_for_turn_s);
  visit("empty_window_ns", environment.empty_window_ns);
  visit("graph_launch", environment.graph);
  visit("several_cpus", environment.several_cpus);
  visit("second_clock", environment.second_clock);
  visit("sm_mhz_before", environment.sm_mhz_before);
  visit("sm_mhz_after", environment.sm_mhz_after);
  visit("throttle_bits", environment.throttle_bits);
  visit("celsius", environment.celsius);
  visit("watts", environment.watts);
}

template <class Checks, class Visit>
void visit_checks(Checks& checks, const Visit& visit) {
  visit("activity_ns_incumbent", checks.activity_incumbent);
  visit("activity_ns_candidate", checks.activity_candidate);
  visit("fresh_ns_incumbent", checks.fresh_incumbent);
  visit("fresh_ns_candidate", checks.fresh_candidate);
  visit("fresh_work_ns", checks.fresh_work);
  visit("unaccounted_ns", checks.unaccounted);
  visit("unaccounted_ns_candidate", checks.unaccounted_candidate);
  visit("alone_ns_incumbent", checks.alone_incumbent);
  visit("alone_unaccounted_ns", checks.alone_unaccounted);
  visit("alone_fresh_ns_incumbent", checks.alone_fresh);
  visit("alone_fresh_work_ns_incumbent", checks.alone_fresh_work);
}

}  // namespace apo
