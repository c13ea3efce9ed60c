// harness/evaluate/correctness/builds_ahead.h - builds for later cases while earlier ones are checked.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/runtime/runtime.h"

namespace apo {

// A compiler takes one core. The case that asks for such a build finds it, or waits for it.
class BuildsAhead {
 public:
  // Builds them in this order, on `threads` threads. The runtime has to outlive this.
  BuildsAhead(const Runtime& runtime, const Configuration& configuration, std::vector<Axes> axes, int threads);
  // Waits for the builds under way, and begins no other.
  ~BuildsAhead();
  BuildsAhead(const BuildsAhead&) = delete;
  BuildsAhead& operator=(const BuildsAhead&) = delete;

 private:
  void build_all();

  const Runtime& runtime_;
  const Configuration configuration_;
  const std::vector<Axes> axes_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace apo
