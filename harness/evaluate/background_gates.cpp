// harness/evaluate/background_gates.cpp - holds the thread and its stop source.
#include "harness/evaluate/background_gates.h"

#include <chrono>
#include <utility>

namespace apo {

BackgroundGates::BackgroundGates(Run run) {
  if (run) {
    gates_ = std::async(std::launch::async, [run = std::move(run), stop = stop_.get_token()] { return run(stop); });
  } else {
    std::promise<std::vector<GateResult>> none;
    none.set_value({});
    gates_ = none.get_future();
  }
}

// The future waits for its thread.
BackgroundGates::~BackgroundGates() {
  stop_.request_stop();
}

bool BackgroundGates::is_under_way() const {
  return gates_.valid() && gates_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

std::vector<GateResult> BackgroundGates::take(const std::stop_token& stop) {
  const std::stop_callback cancel(stop, [this] { stop_.request_stop(); });
  return gates_.get();
}

}  // namespace apo
