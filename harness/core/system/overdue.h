// harness/core/system/overdue.h - runs an action after a deadline, unless it goes out of scope before.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace apo {

class Overdue {
 public:
  Overdue(std::chrono::milliseconds after, std::function<void()> action)
      : thread_([this, due = Clock::now() + after, action = std::move(action)](const std::stop_token& called_off) {
          std::unique_lock lock(mutex_);
          wake_.wait_until(lock, called_off, due, [&] { return called_off.stop_requested(); });
          if (Clock::now() >= due) {  // also where this thread did not run until it was called off
            action();
          }
        }) {}

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace apo
