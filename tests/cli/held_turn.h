// tests/cli/held_turn.h - a turn on this machine's CPUs that a program under test has to wait for.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "harness/core/system/device_turns.h"
#include "harness/core/system/lock_file.h"
#include "harness/core/system/machine.h"
#include "tests/cli/workplace.h"
#include "tests/processes.h"

namespace apo {

// Ends a tenth of a second after somebody waits for it.
class HeldTurn {
 public:
  explicit HeldTurn(const Workplace& place)
      : turns_(place.path("apo"), "host", usable_cpus()),
        turn_(turns_.take({})),
        ending_([this, lock = place.path("apo/turn-host.lock")] { end_when_waited_for(lock); }) {}
  HeldTurn(const HeldTurn&) = delete;
  HeldTurn& operator=(const HeldTurn&) = delete;
  ~HeldTurn() { ending_.join(); }
  bool was_waited_for() const { return waited_for_; }

 private:
  void end_when_waited_for(const std::filesystem::path& lock) {
    const LockFile locks(lock);
    waited_for_ = testing::comes_about([&] { return locks.holder_of({.first = usable_cpus().front()}) >= 0; });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    turn_.reset();
  }

  DeviceTurns turns_;
  std::optional<DeviceTurns::Turn> turn_;
  std::atomic<bool> waited_for_ = false;
  std::thread ending_;
};

}  // namespace apo
