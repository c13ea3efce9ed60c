// harness/evaluate/correctness/correctness.h - the gate "correctness": checks shapes and regimes with the reference.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/correctness/check_case.h"
#include "harness/evaluate/correctness/covering_shapes.h"
#include "harness/runtime/runtime.h"

namespace apo {

inline constexpr std::int64_t kElementsOfEveryRegime = 512;  // of all tensors: rows that are longer than a warp
// Monte-Carlo arithmetic takes 0.15 us for each operation of a reference: 5 s for all of them on one core.
inline constexpr std::int64_t kMostOperationsPerElement = 64;

// Returns whether the candidate runs on these axes; an empty function admits all.
using Supported = std::function<bool(const Axes&)>;

// Plans the cases: every small and ragged workload of the family with two regimes each, in turn so that all are used,
// and with all the smallest that `supported` admits and that has kElementsOfEveryRegime; shapes of no workload that
// `supported` admits, drawn from the seed: those of covering_shapes, and one for each of three axes that is as long as
// fits; then the campaign's own workloads with the typical and one more regime. Workloads that share their inputs among
// experiments take these from `shared_seed`. A long shape has at most `most_elements` in all its tensors together, and
// kMostOperationsPerElement for each of them.
std::vector<CheckCase> correctness_plan(const Family& family, const std::vector<std::string>& campaign_workloads,
                                        std::uint64_t seed, std::uint64_t shared_seed = 0,
                                        const Supported& supported = {}, std::int64_t most_elements = kMostElements);
// The same plan, with shapes that the configuration supports.
std::vector<CheckCase> correctness_plan(const Runtime& runtime, const Configuration& configuration,
                                        const std::vector<std::string>& campaign_workloads, std::uint64_t seed,
                                        std::uint64_t shared_seed = 0);

// The workloads in every regime, a case each: what a candidate goes through before it is accepted, since the plans
// above show it two regimes of each. Without those whose tensors have more than kMostElementsOfEveryRegime together.
inline constexpr std::int64_t kMostElementsOfEveryRegime = std::int64_t{1} << 28;
std::vector<CheckCase> every_regime_plan(const Family& family, const std::vector<std::string>& campaign_workloads);

// Runs all cases that the configuration supports, until one fails. Where it is wrong on some sizes alone, the evidence
// has the apo:requires line that it lacks. Throws Cancelled after a stop of the runtime's workers.
GateResult correctness_gate(const Runtime& runtime, const Configuration& configuration,
                            const std::vector<CheckCase>& plan, std::uint64_t seed, const CheckProgress& progress = {});

}  // namespace apo
