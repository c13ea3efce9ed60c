// harness/evaluate/untimed_gates.h - the gates before any timing: metadata, build, resources, correctness, sanitizers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/plan.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Adds the gates to the experiment, cheapest first, up to the one that fails: then nullopt. Returns both arms built for
// every workload, without inputs. An experiment without an incumbent is that of a variant that is registered: it is
// compared with nothing. Throws EnvironmentError when the incumbent does not build.
std::optional<std::vector<TimedWorkload>> pass_untimed_gates(const Evaluation& evaluation);

// The gate of one build; `built` is its evidence when the build is valid.
GateResult build_gate(const Build& build, const std::string& built);

// The gate that code which gave wrong results before does not pass; `before` names that experiment.
GateResult history_gate(const std::string& before);

// The seed of inputs of large workloads that the correctness gates of several experiments share.
std::uint64_t shared_seed(const Evaluation& evaluation);

std::vector<std::string> names_of(const std::vector<const Workload*>& workloads);

}  // namespace apo
