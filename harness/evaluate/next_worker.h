// harness/evaluate/next_worker.h - the workers of the next rounds start while this one measures, the last one ends.
#pragma once

#include <deque>
#include <future>
#include <memory>

#include "harness/worker/worker.h"

namespace apo {

// Starting a process on a GPU takes a quarter of a second, ending it a tenth: more than what a round measures. Both
// arms of a round share what that may disturb. Used by one thread, which has to outlive the workers.
class NextWorker {
 public:
  NextWorker() = default;
  ~NextWorker();
  NextWorker(const NextWorker&) = delete;
  NextWorker& operator=(const NextWorker&) = delete;

  // Begins to start a worker, whose await_start() the taker calls; nothing where one with this layout seed has begun.
  void start(WorkerOptions options);
  // The one that start() began with this layout seed, else a new one. Those that were begun before it end.
  std::unique_ptr<Worker> take(WorkerOptions options);
  // Ends it beside the caller's next steps; at most one at a time.
  void end(std::unique_ptr<Worker> worker);

 private:
  struct Started {
    std::uint64_t seed = 0;
    std::unique_ptr<Worker> worker;
  };
  std::deque<Started> next_;  // in the order in which they were begun
  std::future<void> ending_;
};

}  // namespace apo
