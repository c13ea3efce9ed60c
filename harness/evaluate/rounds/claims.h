// harness/evaluate/rounds/claims.h - measures the figures against which a candidate's claim is checked (judge/claim.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/next_tensors.h"
#include "harness/evaluate/rounds/session.h"
#include "harness/runtime/runtime.h"

namespace apo {

// One call of each arm on inputs of the pool that are new to the session.
Result<Done> take_fresh_calls(RoundSession& session, std::size_t which, int block, std::uint64_t round_seed,
                              std::vector<std::size_t>& unseen);

// The session's measurements of that call.
void note_claims(const RoundSession& session, bool candidate_in_slot0, CrossChecks& checks);

struct AlonePlan {
  std::size_t which = 0;  // the workload
  CachePolicy cache = CachePolicy::cold;
  std::uint64_t order_seed = 0;
  int repetitions = 1;
};
// Measures the incumbent in a process without the candidate: its median call, and the parent's measurements.
Result<Done> measure_alone(const Runtime& runtime, const TimedWorkload& workload, const AlonePlan& plan,
                           NextTensors& tensors, bool candidate_in_slot0, CrossChecks& checks);

}  // namespace apo
