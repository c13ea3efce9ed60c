// tests/loop/stages.h - the stages of this process that end while it lives, in their order.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "harness/core/nvtx.h"

namespace apo::testing {

class Stages {
 public:
  Stages() {
    on_stage_end([this](const std::string& name, double) {
      const std::lock_guard lock(mutex_);
      names_.push_back(name);
    });
  }
  ~Stages() { on_stage_end({}); }
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  // Those that begin with one of these words.
  std::vector<std::string> about(const std::vector<std::string>& words) const {
    std::vector<std::string> found;
    std::ranges::copy_if(names_, std::back_inserter(found), [&](const std::string& name) {
      return std::ranges::any_of(words, [&](const std::string& word) { return name.starts_with(word); });
    });
    return found;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
};

}  // namespace apo::testing
