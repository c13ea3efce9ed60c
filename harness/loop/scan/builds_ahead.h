// harness/loop/scan/builds_ahead.h - builds configurations on all cores while the caller measures what is built.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <semaphore>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/runtime/timed_workload.h"

namespace apo {

class BuildsAhead {
 public:
  using Make = std::function<Build(const Configuration&)>;
  // `make` is called on several threads at once, `threads` at most.
  BuildsAhead(Make make, int threads) : make_(std::move(make)), free_(threads) {}
  ~BuildsAhead();  // waits for the builds that have begun
  BuildsAhead(const BuildsAhead&) = delete;
  BuildsAhead& operator=(const BuildsAhead&) = delete;

  void add(const Configuration& configuration);
  // What was added and not taken.
  const std::vector<Configuration>& added() const { return added_; }
  // Waits until so many are built, or all that were added, and takes what is built. What a user has to mend is refused;
  // throws what else `make` threw.
  std::vector<TimedArm> take(std::size_t least);

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
  std::vector<std::future<void>> builds_;  // ended first
};

}  // namespace apo
