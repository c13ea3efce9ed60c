// harness/loop/scan/builds_ahead.cpp - a thread for each build; as many as there are cores work at once.
#include "harness/loop/scan/builds_ahead.h"

#include <algorithm>
#include <utility>

#include "harness/core/error.h"

namespace apo {

BuildsAhead::~BuildsAhead() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  stop_.request_stop();
}

TimedArm BuildsAhead::built(const Configuration& configuration) const {
  try {
    return {configuration, make_(configuration)};
  } catch (const UserError& error) {
    return {configuration, {.outcome = Outcome::refused, .evidence = error.what()}};
  }
}

void BuildsAhead::add(const Configuration& configuration) {
  added_.push_back(configuration);
  builds_.push_back(std::async(std::launch::async, [this, configuration] {
    free_.acquire();
    std::unique_lock lock(mutex_);
    if (!ending_ && !error_) {
      lock.unlock();
      try {
        TimedArm arm = built(configuration);
        lock.lock();
        done_.push_back(std::move(arm));
      } catch (const std::exception&) {
        lock.lock();
        error_ = std::current_exception();
      }
      changed_.notify_one();
    }
    free_.release();
  }));
}

std::vector<TimedArm> BuildsAhead::take(std::size_t least, Time latest) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, latest, [&] { return error_ || done_.size() >= std::min(least, added_.size()); });
  if (error_) {
    std::rethrow_exception(error_);
  }
  for (const TimedArm& arm : done_) {
    std::erase(added_, arm.configuration);
  }
  return std::exchange(done_, {});
}

}  // namespace apo
