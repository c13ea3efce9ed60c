// harness/runtime/worker_pool.h - workers that are starting for the next use and workers that are ending.
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/worker/parent/worker.h"

namespace apo {

// Starting a process on a GPU takes a quarter of a second, ending it a tenth: more than what a round measures. Both
// arms of a round share what that may disturb. May be used from several threads; those that made the workers have to
// outlive them.
class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool() { clear(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // One into which nothing has been loaded yet, made with the options of the runtime.
  void keep(std::unique_ptr<Worker> fresh);
  // It, once, if it watches modules or not as is asked for; else nullptr.
  std::unique_ptr<Worker> take_fresh(bool watched);

  // Begins to start a worker, whose await_start() the taker calls; nothing where one with this layout seed has begun.
  void start(WorkerOptions options);
  // The one that start() began with this layout seed, else a new one. Those that were begun before it end.
  std::unique_ptr<Worker> take(WorkerOptions options);
  // Until those that were begun have answered, or cannot any more, which their takers hear.
  void await_starts();

  // Ends it beside the caller's next steps, and then lets go of the folder that it writes to, if any.
  void end(std::unique_ptr<Worker> worker, std::unique_ptr<TemporaryFolder> folder = nullptr);
  // Until nothing is left of those that end.
  void await_ends();
  // Returns when nothing is left of any of them: what is timed next has the machine to itself.
  void clear();

 private:
  struct Started {
    std::uint64_t seed = 0;
    std::unique_ptr<Worker> worker;
  };
  void start_if_absent(WorkerOptions options);

  std::mutex mutex_;
  std::unique_ptr<Worker> fresh_;
  std::deque<Started> next_;  // in the order in which they were begun
  std::vector<std::future<void>> ending_;
};

}  // namespace apo
