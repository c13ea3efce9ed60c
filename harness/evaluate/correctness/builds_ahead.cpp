// harness/evaluate/correctness/builds_ahead.cpp - a few threads that take the next build from one list.
#include "harness/evaluate/correctness/builds_ahead.h"

#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <utility>

namespace apo {

BuildsAhead::BuildsAhead(const Runtime& runtime, std::vector<BuildAhead> builds, int threads)
    : runtime_(runtime), builds_(std::move(builds)) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { build_all(); });
  }
}

BuildsAhead::~BuildsAhead() {
  next_ = builds_.size();
  wait();
}

void BuildsAhead::wait() {
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void BuildsAhead::build_all() {
  constexpr int kYielding = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kYielding);  // what measures goes first; may be refused
  for (std::size_t i = next_++; i < builds_.size(); i = next_++) {
    try {
      static_cast<void>(runtime_.build(builds_[i].configuration, builds_[i].axes, false));
    } catch (const std::exception&) {
      return;  // the case that needs this build meets the same error, and reports it
    }
  }
}

}  // namespace apo
