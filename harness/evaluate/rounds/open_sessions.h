// harness/evaluate/rounds/open_sessions.h - holds the open sessions of a comparison and prepares the next ones.
#pragma once

#include <array>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/layout.h"
#include "harness/evaluate/rounds/session.h"
#include "harness/runtime/runtime.h"
#include "harness/runtime/timed_workload.h"
#include "harness/runtime/worker_pool.h"
#include "harness/worker/protocol/shared_tensors.h"

namespace apo {

// Two memory files take turns; shared tensors that were taken have to be gone before the next are taken. Used by one
// thread. Arguments of start() have to live until the next take() or as long as this.
class NextTensors {
 public:
  explicit NextTensors(const Runtime& runtime) : runtime_(runtime) {}
  NextTensors(const NextTensors&) = delete;
  NextTensors& operator=(const NextTensors&) = delete;

  // Begins to lay out shared tensors, unless memory is scarce.
  void start(const TimedWorkload& workload, const SessionDraw& draw);
  // Returns the shared tensors that start() began with the same workload and draw, else new ones: two sets of inputs
  // from the pool, poisoned outputs, scratch for either slot.
  std::unique_ptr<SharedTensors> take(const TimedWorkload& workload, const SessionDraw& draw);

 private:
  std::unique_ptr<SharedTensors> lay_out(const TimedWorkload& workload, const SessionDraw& draw,
                                         std::shared_ptr<MemoryFile> memory, int threads) const;
  SharedTensorsSpec spec_of(const TimedWorkload& workload, const SessionDraw& draw) const;

  const Runtime& runtime_;
  std::array<std::shared_ptr<MemoryFile>, 2> memories_{std::make_shared<MemoryFile>(), std::make_shared<MemoryFile>()};
  std::size_t turn_ = 0;  // whose memory the next shared tensors is in
  const TimedWorkload* workload_ = nullptr;
  SessionDraw draw_;
  std::future<std::unique_ptr<SharedTensors>> next_;
};

// Holds one session per workload, in a process that serves as many rounds as the options say. The runtime and the
// workloads have to outlive it.
class OpenSessions {
 public:
  OpenSessions(const Runtime& runtime, const std::vector<TimedWorkload>& workloads, RoundCoins coins, CachePolicy cache,
               const RoundOptions& options);

  // Each stage has processes of its own.
  void begin_round(RoundStage stage);
  void end_round();
  // True in the last round of the open processes.
  bool is_last_round() const { return age_ + 1 == options_.rounds_per_process; }
  // Returns the session of this round: in a new process, or in the open one for a later round.
  Result<RoundSession*> open(std::size_t which, Round& round);
  // Ends the worker in the background.
  void close(std::size_t which);
  // Drops a session that failed.
  void drop(std::size_t which) { sessions_[which].reset(); }
  // Lays out tensors for a session beside these, when that of the workload is closed.
  NextTensors& tensors() { return tensors_; }

 private:
  // The place of a session in a round: the workload at `position` of the round's order.
  struct Opening {
    RoundStage stage = RoundStage::search;
    int index = 0;
    std::size_t position = 0;
  };
  Opening opening(const Round& round, std::size_t which) const;
  // Returns the next place of the comparison; the next round is `rounds` later.
  Opening after(const Opening& opening, int rounds) const;
  std::size_t workload_of(const Opening& opening) const;
  void keep_inputs(const TimedWorkload& timed) const;
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
