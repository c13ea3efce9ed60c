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

// The folder in which the processes of this user find each other's locks: "apo" in $XDG_RUNTIME_DIR or /run/user/<uid>
// if it exists and belongs to the user, else /tmp/apo-<uid>. It is not created here.
std::filesystem::path runtime_folder();

// Serialises measurements on a device. A missing turn makes nothing wrong, only noisier, so a process that cannot get
// one, or has waited very long, continues without it and says so.
class DeviceTurns {
 public:
  struct Patience {
    std::chrono::milliseconds before_note{10'000};
    std::chrono::milliseconds most{600'000};  // a holder may have been stopped
  };
  // Receives a line for a waiting user.
  using Note = std::function<void(const std::string&)>;

  // `device` is a GPU's UUID or "host"; on "host" only processes that share one of the `cpus` wait for each other.
  DeviceTurns(std::filesystem::path folder, std::string device, const std::vector<int>& cpus, Patience patience);
  DeviceTurns(std::filesystem::path folder, std::string device, const std::vector<int>& cpus = {0})
      : DeviceTurns(std::move(folder), std::move(device), cpus, Patience()) {}

  // Excludes all others during its lifetime, if held().
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

  // Waits until the device is free. Only one turn may exist at a time, and `this` outlives it. A waiting process
  // precedes one that had a turn since, so that two campaigns alternate.
  Turn take(const Note& note);

 private:
  struct Wait;
  void open();
  // The reason why waiting is impossible here; empty when it is possible.
  std::string trouble() const;
  bool lock(LockedBytes bytes, Wait& wait);
  bool lock_all(std::int64_t offset, Wait& wait);
  void unlock_all(std::int64_t offset);
  std::string who_has(LockedBytes bytes) const;

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
