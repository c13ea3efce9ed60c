// harness/evaluate/rounds/solo_runs.h - times each arm alone for seconds, to detect clock throttling.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/rounds/host_session.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/evaluate/rounds/open_sessions.h"
#include "harness/evaluate/rounds/session.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

// Settings that earlier rounds have fixed, for solo runs of the same comparison.
struct SoloRunPlan {
  RoundCoins coins;
  JudgePreset preset;
  CachePolicy cache = CachePolicy::cold;
  RoundOptions rounds;
  std::vector<int> repetitions;         // calls in a sample of each workload; target cuda
  std::vector<WindowPlan> windows;      // of each workload; target host
  double solo_run_s = kSoloRunSeconds;  // at least
};

// One block of solo runs of one workload, 0110 or 1001, in a fresh process with coins of its own.
struct SoloRunBlockResult {
  std::vector<SoloRun> solo_runs;  // 4; none where `missing` says why the clock cannot be read
  std::string missing;
};

// Runs blocks of solo runs. The workloads have to outlive it, and no RoundRunner may work meanwhile.
class SoloRunRunner {
 public:
  SoloRunRunner(const Runtime& runtime, const std::vector<TimedWorkload>& workloads, SoloRunPlan plan);

  // Calls `on_solo_run` before each solo run. A Failure names the arm that misbehaved: slot 0 is the incumbent, slot 1
  // the candidate, -1 unknown.
  Result<SoloRunBlockResult> run(int block, std::size_t which, const std::function<void(int solo_run)>& on_solo_run);

 private:
  Result<Done> warm_up(RoundSession& session, std::uint64_t order_seed, std::size_t which) const;
  Result<SoloRun> take_solo_run(RoundSession& session, int slot, std::size_t which, std::uint64_t look_seed) const;
  Result<SoloRunBlockResult> take_block(RoundSession& session, int block, std::size_t which,
                                        const std::function<void(int solo_run)>& on_solo_run) const;
  // The same on a host.
  Result<SoloRunBlockResult> run_on_host(int block, std::size_t which,
                                         const std::function<void(int solo_run)>& on_solo_run);
  Result<SoloRun> take_host_solo_run(HostSession& session, int slot, std::size_t which, std::uint64_t look_seed,
                                     const ClockWatch& watch) const;

  const Runtime& runtime_;
  const std::vector<TimedWorkload>& workloads_;
  SoloRunPlan plan_;
  NextTensors tensors_;
};

struct SoloRunsResult {
  ClockCoupling clock;
  std::vector<SoloRun> solo_runs;
};
// Runs kSoloRunBlocks blocks of each workload, or none where the clock cannot be read, and evaluates them. Each block
// is a turn of the runtime's; waits are added to `waited_s`. `what` is shown as progress. Throws EnvironmentError when
// an arm does not run.
SoloRunsResult run_solo_runs(const Runtime& runtime, const std::vector<TimedWorkload>& workloads,
                             const SoloRunPlan& plan, const std::string& what, Observer& observer, double& waited_s);

}  // namespace apo
