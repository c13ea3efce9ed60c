// harness/evaluate/worker_yard.cpp - one fresh worker, and a thread for each that ends.
#include "harness/evaluate/worker_yard.h"

#include <utility>

namespace apo {

void WorkerYard::keep(std::unique_ptr<Worker> fresh) {
  const std::lock_guard lock(mutex_);
  std::swap(fresh_, fresh);
}

std::unique_ptr<Worker> WorkerYard::take() {
  const std::lock_guard lock(mutex_);
  return std::move(fresh_);
}

void WorkerYard::end(std::unique_ptr<Worker> worker, std::unique_ptr<TemporaryFolder> folder) {
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

void WorkerYard::clear() {
  std::unique_ptr<Worker> fresh;
  std::vector<std::future<void>> ending;
  {
    const std::lock_guard lock(mutex_);
    fresh = std::move(fresh_);
    ending = std::move(ending_);
    ending_.clear();
  }
  fresh.reset();
  for (const std::future<void>& one : ending) {
    one.wait();
  }
}

}  // namespace apo
