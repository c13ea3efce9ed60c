// harness/evaluate/rounds/host_rounds.h - measures the workloads of a round on a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/rounds/host_session.h"
#include "harness/evaluate/rounds/layout.h"

namespace apo {

// Every round of a workload has two new processes, one an arm; those of a noise study may serve several rounds.
class HostRounds {
 public:
  // Everything has to outlive it.
  HostRounds(const Runtime& runtime, const std::vector<TimedWorkload>& workloads, const JudgePreset& preset,
             const RoundCoins& coins, CachePolicy cache, const RoundOptions& options);

  void begin_round(RoundStage stage);
  // Adds what it sees of the machine to the round's environment. A Failure names a slot.
  Result<RoundWorkload> measure(std::size_t which, Round& round, std::uint64_t order_seed);
  void end_round() { age_ = (age_ + 1) % options_.rounds_per_process; }
  // Returns the plan of a workload, which the first call chooses, and another one where calls turned out short; call it
  // before measure(). A Failure names an arm.
  Result<WindowPlan> plan(std::size_t which);
  std::vector<WindowPlan> plans() const;  // the default where none was chosen
  // Ends the processes of a round that failed.
  void drop() { session_.reset(); }

 private:
  Result<WindowPlan> choose_plan(const TimedWorkload& workload, const SessionDraw& draw);
  Result<HostSession*> open(std::size_t which, Round& round);

  const Runtime& runtime_;
  const std::vector<TimedWorkload>& workloads_;
  const JudgePreset& preset_;
  const RoundCoins& coins_;
  CachePolicy cache_;
  const RoundOptions& options_;
  std::vector<std::optional<WindowPlan>> plans_;
  std::vector<bool> turned_out_short_;    // the plans of these workloads are to be chosen anew
  bool may_be_long_ = true;               // never again where calls turned out short once
  std::unique_ptr<HostSession> session_;  // of the last round
  std::optional<RoundStage> stage_;
  int age_ = 0;  // rounds that the session has had
};

}  // namespace apo
