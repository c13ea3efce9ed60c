// harness/evaluate/gates_beside.cpp - one thread, and the source of its stop.
#include "harness/evaluate/gates_beside.h"

#include <chrono>
#include <utility>

namespace apo {

GatesBeside::GatesBeside(Run run) {
  if (run) {
    gates_ = std::async(std::launch::async, [run = std::move(run), stop = stop_.get_token()] { return run(stop); });
  } else {
    std::promise<std::vector<GateResult>> none;
    none.set_value({});
    gates_ = none.get_future();
  }
}

// The future waits for its thread.
GatesBeside::~GatesBeside() {
  stop_.request_stop();
}

bool GatesBeside::is_under_way() const {
  return gates_.valid() && gates_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

std::vector<GateResult> GatesBeside::take(const std::stop_token& stop) {
  const std::stop_callback cancel(stop, [this] { stop_.request_stop(); });
  return gates_.get();
}

}  // namespace apo
