// harness/runtime/worker_pool.cpp - starts workers ahead and ends each in a thread of its own.
#include "harness/runtime/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/core/nvtx.h"
#include "harness/runtime/python_server.h"

namespace apo {

void WorkerPool::keep(std::unique_ptr<Worker> worker) {
  {
    const std::lock_guard lock(mutex_);
    kept_.swap(worker);
  }
  worker.reset();  // the earlier one ends behind the lock
}

std::unique_ptr<Worker> WorkerPool::take_kept() {
  const std::lock_guard lock(mutex_);
  return std::move(kept_);
}

void WorkerPool::keep_called(std::string library, std::unique_ptr<Worker> worker) {
  {
    const std::lock_guard lock(mutex_);
    library_ = std::move(library);
    called_.swap(worker);
  }
  worker.reset();  // the earlier one ends behind the lock
}

std::unique_ptr<Worker> WorkerPool::take_called(const std::string& library) {
  const std::lock_guard lock(mutex_);
  return called_ != nullptr && library_ == library && called_->alive() ? std::move(called_) : nullptr;
}

void WorkerPool::start_if_absent(WorkerOptions options) {
  const std::uint64_t seed = options.layout_seed;
  if (std::ranges::find(next_, seed, &Started::seed) == next_.end()) {
    options.await_start = false;
    next_.push_back({.seed = seed, .worker = std::make_unique<Worker>(std::move(options))});
  }
}

void WorkerPool::start(WorkerOptions options) {
  const std::lock_guard lock(mutex_);
  start_if_absent(std::move(options));
}

std::unique_ptr<Worker> WorkerPool::take(WorkerOptions options) {
  std::vector<Started> passed_over;  // ends behind the lock
  const std::lock_guard lock(mutex_);
  while (!next_.empty() && next_.front().seed != options.layout_seed) {
    passed_over.push_back(std::move(next_.front()));
    next_.pop_front();
  }
  start_if_absent(std::move(options));
  std::unique_ptr<Worker> worker = std::move(next_.front().worker);
  next_.pop_front();
  return worker;
}

void WorkerPool::await_starts() {
  const std::lock_guard lock(mutex_);
  for (const Started& one : next_) {
    one.worker->wait_until_started();
  }
}

void WorkerPool::end(std::unique_ptr<Worker> worker, std::unique_ptr<TemporaryFolder> folder) {
  auto ending = std::async(std::launch::async, [ended = std::move(worker), left = std::move(folder)]() mutable {
    ended.reset();
    left.reset();
  });
  const std::lock_guard lock(mutex_);
  std::erase_if(ending_, [](const std::future<void>& one) {
    return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  ending_.push_back(std::move(ending));
}

void WorkerPool::await_ends() {
  std::vector<std::future<void>> ending;
  {
    const std::lock_guard lock(mutex_);
    ending = std::exchange(ending_, {});
  }
  const StageRange range("workers end");
  for (const std::future<void>& one : ending) {
    one.wait();
  }
}

void WorkerPool::clear() {
  std::unique_ptr<Worker> kept;
  std::unique_ptr<Worker> called;
  std::deque<Started> next;
  {
    const std::lock_guard lock(mutex_);
    kept = std::move(kept_);
    called = std::move(called_);
    next = std::exchange(next_, {});
  }
  kept.reset();
  called.reset();
  next.clear();
  end_python_files();
  await_ends();
}

}  // namespace apo
