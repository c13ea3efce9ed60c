// harness/evaluate/correctness/builds_ahead.cpp - a few threads that take the next build from one list.
#include "harness/evaluate/correctness/builds_ahead.h"

#include <exception>
#include <utility>

namespace apo {

BuildsAhead::BuildsAhead(const Runtime& runtime, const Configuration& configuration, std::vector<Axes> axes,
                         int threads)
    : runtime_(runtime), configuration_(configuration), axes_(std::move(axes)) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { build_all(); });
  }
}

BuildsAhead::~BuildsAhead() {
  next_ = axes_.size();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void BuildsAhead::build_all() {
  for (std::size_t i = next_++; i < axes_.size(); i = next_++) {
    try {
      static_cast<void>(runtime_.build(configuration_, axes_[i], false));
    } catch (const std::exception&) {
      return;  // the case that needs this build meets the same error, and reports it
    }
  }
}

}  // namespace apo
