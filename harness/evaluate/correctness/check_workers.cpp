// harness/evaluate/correctness/check_workers.cpp - lends workers, takes them back, and ends them in the background.
#include "harness/evaluate/correctness/check_workers.h"

#include <utility>

#include "kernels/random.h"

namespace apo {

CheckWorkers::CheckWorkers(const WorkerOptions& options, int count, std::uint64_t seed, WorkerPool& worker_pool)
    : worker_pool_(worker_pool), left_(count) {
  if (auto kept = count > 0 ? worker_pool_.take_kept(true) : nullptr) {
    idle_.push_back(std::move(kept));
  }
  while (static_cast<int>(idle_.size()) < count) {
    WorkerOptions own = options;
    own.await_start = false;
    own.watch_modules = true;
    own.layout_seed = derive_seed(seed, "environment", idle_.size());
    idle_.push_back(std::make_unique<Worker>(std::move(own)));
  }
}

CheckWorkers::~CheckWorkers() {
  for (std::unique_ptr<Worker>& worker : idle_) {
    worker_pool_.end(std::move(worker));
  }
}

CheckWorkers::Lease CheckWorkers::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) {
    changed_.wait(lock, [this] { return !idle_.empty() || left_ == 0; });
  }
  std::unique_ptr<Worker> worker;
  if (!idle_.empty()) {
    worker = std::move(idle_.front());
    idle_.pop_front();
  }
  return {*this, std::move(worker)};
}

void CheckWorkers::give_back(std::unique_ptr<Worker> worker, bool keep) {
  if (worker == nullptr) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (keep && worker->alive()) {
    idle_.push_front(std::move(worker));
  } else {
    --left_;
    worker_pool_.end(std::move(worker));
  }
  changed_.notify_all();
}

}  // namespace apo
