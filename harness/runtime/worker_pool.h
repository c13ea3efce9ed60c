// harness/runtime/worker_pool.h - workers that are starting for the next use and workers that are ending.
#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/worker/parent/worker.h"

namespace apo {

// Keeps workers ready, because starting a process on a GPU takes a quarter of a second and ending it a tenth, more than
// a round measures. Both arms of a round share any disturbance. May be used from several threads; those that made the
// workers have to outlive them.
class WorkerPool {
 public:
  WorkerPool() = default;
  ~WorkerPool() { clear(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Stores a worker into which nothing has been loaded yet, made with the options of the runtime, in place of an
  // earlier one.
  void keep(std::unique_ptr<Worker> worker);
  // Takes such a worker; nullptr where there is none.
  std::unique_ptr<Worker> take_kept();

  // Stores a worker that has called this library, for the library's next sizes, in place of an earlier one.
  void keep_called(std::string library, std::unique_ptr<Worker> worker);
  // Takes it, where it still runs; else returns nullptr.
  std::unique_ptr<Worker> take_called(const std::string& library);

  // Begins to start a worker, whose await_start() the taker calls. Does nothing where one with this layout seed has
  // begun.
  void start(WorkerOptions options);
  // Takes the worker that start() began with this layout seed, else a new one, and ends older ones.
  std::unique_ptr<Worker> take(WorkerOptions options);
  // Waits until all begun workers have answered or failed; their takers get the error.
  void await_starts();

  // Ends a worker in the background, and then frees the folder that it writes to, if any.
  void end(std::unique_ptr<Worker> worker, std::unique_ptr<TemporaryFolder> folder = nullptr);
  // Waits until all ending workers have gone.
  void await_ends();
  // Waits until no worker is left, nor a process of a Python file: the next measurement has the machine to itself.
  void clear();

 private:
  struct Started {
    std::uint64_t seed = 0;
    std::unique_ptr<Worker> worker;
  };
  void start_if_absent(WorkerOptions options);

  std::mutex mutex_;
  std::unique_ptr<Worker> kept_;
  std::string library_;
  std::unique_ptr<Worker> called_;
  std::deque<Started> next_;  // in the order in which they were begun
  std::vector<std::future<void>> ending_;
};

}  // namespace apo
