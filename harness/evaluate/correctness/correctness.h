// harness/evaluate/correctness/correctness.h - the gate "correctness": checks shapes and regimes with the reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/correctness/check_case.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Every small and ragged workload of the family, two regimes each in turn so that all are seen, the first one with all
// of them; two shapes of no workload that `supported` lets through, drawn from the seed; then the campaign's own
// workloads with the typical and one more regime. Those of them that share their inputs among experiments take these
// from `shared_seed`.
std::vector<CheckCase> correctness_plan(const Family& family, const std::vector<std::string>& campaign_workloads,
                                        std::uint64_t seed, std::uint64_t shared_seed = 0,
                                        const std::function<bool(const Axes&)>& supported = {});
// The same, with shapes that the configuration supports.
std::vector<CheckCase> correctness_plan(const Runtime& runtime, const Configuration& configuration,
                                        const std::vector<std::string>& campaign_workloads, std::uint64_t seed,
                                        std::uint64_t shared_seed = 0);

using CheckProgress = std::function<void(int done, int all, const std::string& what)>;

// All cases that the configuration supports, until one fails.
GateResult correctness_gate(const Runtime& runtime, const Configuration& configuration,
                            const std::vector<CheckCase>& plan, std::uint64_t seed, const CheckProgress& progress = {});

}  // namespace apo
