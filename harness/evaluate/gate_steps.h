// harness/evaluate/gate_steps.h - records when the parts of a gate began and ended, from several threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/core/stopwatch.h"

namespace apo {

class GateSteps {
 public:
  // Records a part of the gate for its lifetime.
  class Step {
   public:
    Step(GateSteps& steps, std::string what) : steps_(steps), what_(std::move(what)), begin_s_(steps.seconds()) {}
    ~Step() { steps_.add({.what = std::move(what_), .begin_s = begin_s_, .end_s = steps_.seconds()}); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    GateSteps& steps_;
    std::string what_;
    double begin_s_;
  };

  // Seconds since construction.
  double seconds() const { return seconds_since(start_); }
  // Returns the steps, the earliest first.
  std::vector<GateStep> list() const {
    const std::lock_guard lock(mutex_);
    std::vector<GateStep> steps = steps_;
    std::ranges::stable_sort(steps, {}, &GateStep::begin_s);
    return steps;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void add(GateStep step) {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
  }

  Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  std::vector<GateStep> steps_;
};

}  // namespace apo
