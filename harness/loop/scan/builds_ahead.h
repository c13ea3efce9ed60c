// harness/loop/scan/builds_ahead.h - builds configurations on all cores while the caller measures what is built.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <semaphore>
#include <stop_token>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

class BuildsAhead {
 public:
  using Make = std::function<Build(const Configuration&)>;
  using Time = std::chrono::steady_clock::time_point;
  // `make` is called on several threads at once, `threads` at most, and may end early after a `stop`.
  BuildsAhead(Make make, int threads, std::stop_source stop)
      : make_(std::move(make)), free_(threads), stop_(std::move(stop)) {}
  ~BuildsAhead();  // stops the builds that have begun, and waits for their end
  BuildsAhead(const BuildsAhead&) = delete;
  BuildsAhead& operator=(const BuildsAhead&) = delete;

  void add(const Configuration& configuration);
  // What was added and not taken.
  const std::vector<Configuration>& added() const { return added_; }
  // Waits until so many are built, or all that were added, or it is that late, and takes what is built. What a user has
  // to mend is refused; throws what else `make` threw.
  std::vector<TimedArm> take(std::size_t least, Time latest);

 private:
  TimedArm built(const Configuration& configuration) const;

  Make make_;
  std::vector<Configuration> added_;
  std::mutex mutex_;  // of the next four
  std::condition_variable changed_;
  std::vector<TimedArm> done_;
  std::exception_ptr error_;
  bool ending_ = false;
  std::counting_semaphore<> free_;
  std::stop_source stop_;
  std::vector<std::future<void>> builds_;  // ended first
};

}  // namespace apo
