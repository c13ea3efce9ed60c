// harness/evaluate/next_worker.cpp - some workers ahead, one ending.
#include "harness/evaluate/next_worker.h"

#include <algorithm>
#include <utility>

namespace apo {

NextWorker::~NextWorker() = default;  // the future waits for the one that ends

void NextWorker::start(WorkerOptions options) {
  const std::uint64_t seed = options.layout_seed;
  if (std::ranges::find(next_, seed, &Started::seed) == next_.end()) {
    options.await_start = false;
    next_.push_back({.seed = seed, .worker = std::make_unique<Worker>(std::move(options))});
  }
}

std::unique_ptr<Worker> NextWorker::take(WorkerOptions options) {
  const std::uint64_t seed = options.layout_seed;
  while (!next_.empty() && next_.front().seed != seed) {
    next_.pop_front();
  }
  start(std::move(options));
  std::unique_ptr<Worker> worker = std::move(next_.front().worker);
  next_.pop_front();
  return worker;
}

void NextWorker::end(std::unique_ptr<Worker> worker) {
  ending_ = std::async(std::launch::async, [ended = std::move(worker)]() mutable { ended.reset(); });
}

}  // namespace apo
