// harness/evaluate/background_gates.h - runs gates in a thread beside other gates, and cancels them when unneeded.
#pragma once

#include <functional>
#include <future>
#include <stop_token>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

class BackgroundGates {
 public:
  // Throws Cancelled as soon as it can after a stop, with all its processes ended.
  using Run = std::function<std::vector<GateResult>(const std::stop_token& stop)>;

  // Starts `run` in a thread; an empty one has no gates.
  explicit BackgroundGates(Run run);
  // Cancels running gates and waits for their end.
  ~BackgroundGates();
  BackgroundGates(const BackgroundGates&) = delete;
  BackgroundGates& operator=(const BackgroundGates&) = delete;

  bool is_under_way() const;
  bool is_taken() const { return !gates_.valid(); }
  // Waits for the gates, once; throws what `run` throws. A `stop` cancels them.
  std::vector<GateResult> take(const std::stop_token& stop = {});

 private:
  std::stop_source stop_;
  std::future<std::vector<GateResult>> gates_;
};

}  // namespace apo
