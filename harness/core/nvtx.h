// harness/core/nvtx.h - names the stage that this thread is in, for Nsight Systems and other tools that read NVTX.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace apo {

// A range in NVTX's domain "apo" as long as it lives; ranges nest. Without a tool, or built without NVTX's header, it
// is nothing. The first one in a process may load the tool's library, so a confined worker must not have any.
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

// Tells who observes the ranges of one that another process went through.
void tell_stage(const std::string& name, double seconds);

// Called at the end of every range of this process, from its thread. To be set before the first one.
void on_stage_end(std::function<void(const std::string& name, double seconds)> observer);

}  // namespace apo
