// harness/evaluate/judge/guard.h - objects to a gain that one workload, the slowest calls or the mean pay for.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// What is held against a candidate: an accept has to be free of doubt, a refusal needs proof.
enum class Proof : std::uint8_t { doubt, beyond_doubt };

// Returns the objection to an accept as one sentence, else "". `rounds` are valid ones, all with the same workloads.
// - Workload: its lower bound has to be above -guard_margin (non-inferiority; as every workload has to pass, no
//   correction for their number is needed). Beyond doubt: its upper bound is below.
// - Tail: the 90th and the 99th percentile of all its calls, pooled over the rounds, must not be longer by more than
//   guard_margin. A bound has to say so, because the tail of honest code is the machine's.
// - Mean: all its calls together must not take longer than the incumbent's by more than one standard error, which is
//   what one burst of the machine can make of it; beyond doubt, by more than the bound at guard_alpha.
std::string guard_failure(const std::vector<Round>& rounds, const JudgePreset& preset, Proof proof);

}  // namespace apo
