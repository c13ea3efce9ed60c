// harness/worker/cupti/range_session.h - one session of CUPTI's range profiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/worker/cupti/counter_host.h"
#include "harness/worker/cupti/range_profiler.h"

namespace apo {

// Owns the memory that CUPTI reads and writes until the session is over. The configuration outlives it.
class RangeSession {
 public:
  RangeSession(const cupti::Profiler& profiler, const CounterConfig& config) : profiler_(profiler), config_(config) {}
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;
  ~RangeSession() { end(); }

  cupti::Result open(cupti::Context context);
  // Opens a session for one call of up to `launches` launches per pass. `repeatable`: the caller repeats the passes, if
  // CUPTI allows it.
  cupti::Result set_up(const std::vector<std::string>& metrics, std::size_t launches, bool repeatable);
  cupti::Result start();
  cupti::Result stop();
  cupti::Result finish();  // after the last pass
  void end();

  // Valid after stop(): no further pass is needed.
  bool complete() const { return complete_; }
  // Valid after finish().
  std::size_t ranges() const { return ranges_; }
  std::size_t dropped() const { return dropped_; }
  const std::vector<std::uint8_t>& data() const { return data_; }
  const std::string& step() const { return step_; }

 private:
  cupti::Result at(const char* step, cupti::Result result) {
    step_ = step;
    return result;
  }
  cupti::Result make_room(const std::vector<std::string>& metrics, std::size_t launches);

  const cupti::Profiler& profiler_;
  const CounterConfig& config_;
  std::vector<std::uint8_t> data_;
  void* session_ = nullptr;
  std::size_t ranges_ = 0;
  std::size_t dropped_ = 0;
  bool by_user_ = false;
  bool complete_ = false;
  std::string step_;
};

}  // namespace apo
