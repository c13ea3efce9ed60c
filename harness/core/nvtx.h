// harness/core/nvtx.h - names the stage that this thread is in, for Nsight Systems and other tools that read NVTX.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace apo {

// Opens a range in NVTX's domain "apo" for its lifetime; ranges nest. Without a tool, or when built without NVTX's
// header, it does nothing. The first range of a process may load the tool's library, so a confined worker must not open
// one.
class StageRange {
 public:
  explicit StageRange(std::string name);
  ~StageRange();
  StageRange(const StageRange&) = delete;
  StageRange& operator=(const StageRange&) = delete;

 private:
  std::string name_;
  std::chrono::steady_clock::time_point begin_;
};

// Reports a stage of another process to the observer of ranges.
void tell_stage(const std::string& name, double seconds);

// Sets a function that is called at the end of every range, on the thread of the range. Set it before the first range.
void on_stage_end(std::function<void(const std::string& name, double seconds)> observer);

}  // namespace apo
