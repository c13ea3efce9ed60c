// harness/evaluate/correctness/check_workers.h - a few workers that share the cases of one device variant.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "harness/runtime/worker_pool.h"
#include "harness/worker/parent/worker.h"

namespace apo {

// A pool of workers. Code of a device variant does not run in the worker's process, so a case leaves nothing behind for
// the next: its module is unloaded, its tensors are freed, and new ones are poisoned before every call. Host code gets
// a process of its own for every case, and may take an unused one of these. They watch which machine code the driver
// loads.
class CheckWorkers {
 public:
  // Starts `count` workers without waiting, the first from the worker pool if it has one. The calling thread has to
  // outlive this.
  CheckWorkers(const WorkerOptions& options, int count, std::uint64_t seed, WorkerPool& worker_pool);
  ~CheckWorkers();
  CheckWorkers(const CheckWorkers&) = delete;
  CheckWorkers& operator=(const CheckWorkers&) = delete;

  // Lends a worker for one case. Empty when none is left, or with `wait` = false when none is idle.
  class Lease {
   public:
    Lease(CheckWorkers& from, std::unique_ptr<Worker> worker) : from_(from), worker_(std::move(worker)) {}
    ~Lease() { from_.give_back(std::move(worker_), keep_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    explicit operator bool() const { return worker_ != nullptr; }
    Worker& operator*() const { return *worker_; }
    // Returns a worker: it serves the next case if it still lives, else it ends.
    void keep() { keep_ = true; }

   private:
    CheckWorkers& from_;
    std::unique_ptr<Worker> worker_;
    bool keep_ = false;
  };
  Lease take(bool wait);

 private:
  void give_back(std::unique_ptr<Worker> worker, bool keep);

  WorkerPool& worker_pool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Worker>> idle_;  // those that have served first, then those that still start
  int left_;                                  // idle or taken
};

}  // namespace apo
