// harness/worker/cupti/activity.h - what CUPTI reports by itself: times of kernels, and loaded modules.
//
//   activity.begin();                          // the GPU is idle
//   ... launches; the whole context is synchronised ...
//   const ActivitySpan span = activity.end();  // zeros where activity.missing() says why
//
// While it records, every launch costs about 1 us more; stop() ends that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/worker/cupti/cupti.h"

namespace apo {

// The GPU work in a window, over all streams.
struct ActivitySpan {
  std::int64_t ns = 0;  // from the start of the first kernel, copy or fill to the end of the last one
  int kernels = 0;
};

// Sums records.
class ActivityRecords {
 public:
  // Adds one record of the kinds in cupti.h and ignores other kinds.
  void add(const void* record);
  ActivitySpan span() const;
  int untimed() const { return untimed_; }  // records without a time

 private:
  std::uint64_t first_start_ = 0;
  std::uint64_t last_end_ = 0;
  int kernels_ = 0;
  int untimed_ = 0;
};

// Only one may exist in a process: CUPTI's callbacks know no owner.
class Activity {
 public:
  Activity() = default;
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
  ~Activity() { stop(); }
  // Loads CUPTI at the first call, and drops all records so far.
  void begin();
  ActivitySpan end();
  void stop();
  // The reason why the clock does not work, as one sentence; empty while it works. It stays once it is set.
  const std::string& missing() const { return missing_; }
  // Marks the measurement as failed for a reason outside of CUPTI.
  void give_up(const std::string& why);

 private:
  void start();
  bool check(cupti::Result result, const std::string& what);

  const cupti::Library* cupti_ = nullptr;  // never unloaded
  cupti::Subscriber subscriber_ = nullptr;
  bool recording_ = false;
  std::string missing_;
};

// The machine code that the driver has loaded. Watching slows every launch, so it is only for workers that time
// nothing. Only one may exist in a process: CUPTI has one subscriber.
class ModuleWatch {
 public:
  ModuleWatch() = default;
  ModuleWatch(const ModuleWatch&) = delete;
  ModuleWatch& operator=(const ModuleWatch&) = delete;
  ~ModuleWatch() { stop(); }

  // Keeps every module that is loaded from here on. Loads CUPTI. Needs a context.
  void start();
  void stop();
  // Drops the images that were loaded so far.
  void forget();
  // Returns the images loaded since then that hold code of one of `kernels`, each once; the driver loads modules of its
  // own.
  std::vector<std::string> images(const std::vector<std::string>& kernels) const;
  // The reason why it does not watch, as one sentence; empty while it watches.
  const std::string& missing() const { return missing_; }

 private:
  const cupti::Library* cupti_ = nullptr;  // never unloaded
  cupti::Subscriber subscriber_ = nullptr;
  std::string missing_ = "nobody asked for it";
};

}  // namespace apo
