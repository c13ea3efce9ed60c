// harness/evaluate/next_worker.cpp - one worker ahead, one ending.
#include "harness/evaluate/next_worker.h"

#include <utility>

namespace apo {

NextWorker::~NextWorker() = default;  // the future waits for the one that ends

void NextWorker::start(WorkerOptions options) {
  options.await_start = false;
  seed_ = options.layout_seed;
  next_ = std::make_unique<Worker>(std::move(options));
}

std::unique_ptr<Worker> NextWorker::take(WorkerOptions options) {
  if (next_ == nullptr || seed_ != options.layout_seed) {
    start(std::move(options));
  }
  return std::move(next_);
}

void NextWorker::end(std::unique_ptr<Worker> worker) {
  ending_ = std::async(std::launch::async, [ended = std::move(worker)]() mutable { ended.reset(); });
}

}  // namespace apo
