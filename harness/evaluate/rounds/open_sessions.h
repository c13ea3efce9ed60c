// harness/evaluate/rounds/open_sessions.h - the sessions of a comparison: those that are open, and what the next ones
// need.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/evaluate/rounds/next_tensors.h"
#include "harness/evaluate/rounds/session.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"
#include "harness/runtime/worker_pool.h"

namespace apo {

// One of each workload, in a process that serves as many rounds as the options say. The runtime and the workloads have
// to outlive it.
class OpenSessions {
 public:
  OpenSessions(const Runtime& runtime, const std::vector<TimedWorkload>& workloads, RoundCoins coins, CachePolicy cache,
               const RoundOptions& options);

  // Each stage has processes of its own.
  void begin_round(RoundStage stage);
  void end_round();
  // Of the processes that are open.
  bool is_last_round() const { return age_ + 1 == options_.rounds_per_process; }
  // The session of this round: a new process, or a later round of the one that is there.
  Result<RoundSession*> open(std::size_t which, Round& round);
  // Its worker ends beside the caller's next steps, unless it has host code: then it is gone on return.
  void close(std::size_t which);
  // Lets go of a session that failed.
  void drop(std::size_t which) { sessions_[which].reset(); }
  // For a session beside these, when that of the workload is closed.
  NextTensors& tensors() { return tensors_; }

 private:
  // A round's place for a session: that of the workload at `position` of its order.
  struct Opening {
    RoundStage stage = RoundStage::search;
    int index = 0;
    std::size_t position = 0;
  };
  Opening opening(const Round& round, std::size_t which) const;
  // The one that comes then if the comparison goes on as it is; in another round, so many later.
  Opening after(const Opening& opening, int rounds) const;
  std::size_t workload_of(const Opening& opening) const;
  SessionDraw draw_session(const Opening& opening) const;
  void start_workers_ahead(const Opening& opened);

  const Runtime& runtime_;
  const std::vector<TimedWorkload>& workloads_;
  RoundCoins coins_;
  CachePolicy cache_;
  RoundOptions options_;
  std::optional<RoundStage> stage_;  // of the last round
  int age_ = 0;                      // rounds that the process of the next one has had
  WorkerPool workers_;
  NextTensors tensors_;
  std::vector<std::unique_ptr<RoundSession>> sessions_;  // of each workload, as long as their process lives
};

}  // namespace apo
