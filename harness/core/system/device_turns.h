// harness/core/system/device_turns.h - serialises the measurements of several processes on one device.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/system/lock_file.h"

namespace apo {

// Where the processes of this user find each other's locks: "apo" in $XDG_RUNTIME_DIR or /run/user/<uid>, whichever
// there is and is the user's, else /tmp/apo-<uid>. Not yet made.
std::filesystem::path runtime_folder();

// Turns only keep measurements from disturbing each other: nothing is wrong without one. So who cannot have one, or
// has waited for very long, goes on without and says so.
class DeviceTurns {
 public:
  struct Patience {
    std::chrono::milliseconds before_note{10'000};
    std::chrono::milliseconds most{600'000};  // a holder may have been stopped
  };
  // What is worth a line for whoever waits.
  using Note = std::function<void(const std::string&)>;

  // `device`: a GPU's UUID, or "host", of which only who uses one of the same `cpus` has to wait.
  DeviceTurns(std::filesystem::path folder, std::string device, const std::vector<int>& cpus, Patience patience);
  DeviceTurns(std::filesystem::path folder, std::string device, const std::vector<int>& cpus = {0})
      : DeviceTurns(std::move(folder), std::move(device), cpus, Patience()) {}

  // From its beginning until its end nobody else has one, if held().
  class Turn {
   public:
    Turn() = default;  // of who has nobody to wait for; not held
    Turn(Turn&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), waited_s_(other.waited_s_) {}
    Turn& operator=(Turn&&) = delete;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    bool held() const { return turns_ != nullptr; }
    double waited_s() const { return waited_s_; }

   private:
    friend class DeviceTurns;
    Turn(DeviceTurns* turns, double waited_s) : turns_(turns), waited_s_(waited_s) {}
    DeviceTurns* turns_ = nullptr;
    double waited_s_ = 0;
  };

  // Waits until the device is free. One at a time, and `this` outlives it. Who waits comes before whoever had a turn
  // since, so that two campaigns alternate.
  Turn take(const Note& note);

 private:
  struct Wait;
  void open();
  // Why nobody can be waited for here; empty: no reason.
  std::string trouble() const;
  bool lock(LockedBytes bytes, Wait& wait);
  bool lock_all(std::int64_t offset, Wait& wait);
  void unlock_all(std::int64_t offset);
  std::string who_has(LockedBytes bytes) const;
  void leave_name();

  std::filesystem::path folder_;
  std::string device_;
  std::vector<LockedBytes> ranges_;  // of CPUs, ascending
  Patience patience_;
  LockFile file_;
  std::string no_folder_;  // why
  bool opened_ = false;
  bool told_trouble_ = false;
  bool impatient_ = false;  // the last wait was in vain
};

}  // namespace apo
