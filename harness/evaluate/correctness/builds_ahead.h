// harness/evaluate/correctness/builds_ahead.h - builds for later cases and candidates while earlier ones are checked.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/runtime/runtime.h"

namespace apo {

struct BuildAhead {
  Configuration configuration;
  Axes axes;
};

// A compiler takes one core. The case that asks for such a build finds it, or waits for it.
class BuildsAhead {
 public:
  // Builds them in this order, on `threads` threads. The runtime has to outlive this.
  BuildsAhead(const Runtime& runtime, std::vector<BuildAhead> builds, int threads);
  // Waits for the builds under way, and begins no other.
  ~BuildsAhead();
  BuildsAhead(const BuildsAhead&) = delete;
  BuildsAhead& operator=(const BuildsAhead&) = delete;

  // Returns when all are built.
  void wait();

 private:
  void build_all();

  const Runtime& runtime_;
  const std::vector<BuildAhead> builds_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace apo
