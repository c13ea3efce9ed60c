// harness/evaluate/rounds/runner.h - runs one round: fresh processes, two blind slots, raw samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/rounds/host_rounds.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/evaluate/rounds/open_sessions.h"
#include "harness/evaluate/rounds/session.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Runs rounds of one comparison. Only the parent knows which slot holds the candidate.
class RoundRunner {
 public:
  RoundRunner(const Runtime& runtime, std::vector<TimedWorkload> workloads, JudgePreset preset,
              std::uint64_t campaign_seed, std::string comparison, CachePolicy cache, RoundOptions options = {});

  // A Failure names the arm that misbehaved: slot 0 is the incumbent, slot 1 the candidate, -1 unknown.
  Result<Round> run(RoundStage stage, int index);
  // Target cuda: calls in a sample of each workload, as the first round fixed them.
  const std::vector<int>& repetitions() const { return repetitions_; }
  // Target host: the windows of each workload, as the first round fixed them.
  std::vector<WindowPlan> windows() const { return host_ ? host_->plans() : std::vector<WindowPlan>(); }
  // Target host: fixes them, if no round has.
  Result<Done> plan_windows();

 private:
  void begin_round(RoundStage stage);
  void end_round();
  void drop(std::size_t which);
  Result<RoundWorkload> measure(std::size_t which, Round& round, std::uint64_t order_seed);
  // Adds the device's state to the round's environment.
  Result<RoundWorkload> measure_on_gpu(std::size_t which, Round& round, std::uint64_t order_seed);
  // Warms the session up; in the first round it also fixes the number of calls per sample.
  Result<Done> warm_up(RoundSession& session, std::size_t which, std::uint64_t order_seed, RoundWorkload& result);
  // Runs the timed blocks and the checks of outputs among them.
  Result<Done> measure_blocks(RoundSession& session, std::size_t which, const Round& round, std::uint64_t order_seed,
                              int blocks, RoundWorkload& result);

  const Runtime& runtime_;
  std::vector<TimedWorkload> workloads_;
  JudgePreset preset_;
  RoundCoins coins_;
  CachePolicy cache_;
  std::vector<int> repetitions_;  // fixed in the first round, 0 before
  RoundOptions options_;
  OpenSessions sessions_;           // target cuda
  std::optional<HostRounds> host_;  // target host
};

}  // namespace apo
