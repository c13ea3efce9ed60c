// harness/worker/counters.h - collections of hardware counters on the GPU, launch by launch.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/worker/counter_host.h"
#include "harness/worker/cuda_driver.h"
#include "harness/worker/cupti_profiler.h"
#include "harness/worker/profile_results.h"
#include "harness/worker/profiler_lock.h"
#include "harness/worker/range_session.h"

namespace apo {

// The GPU that is profiled: its context is current in this thread.
struct ProfiledGpu {
  int device = 0;
  int index = 0;  // CUDA's ordinal
  std::string uuid;
  cupti::Context context = nullptr;
};

// What is profiled. Both return CUDA's error.
struct ProfiledCall {
  std::vector<std::string> kernels;  // of one call, in launch order
  // The call does the same again after `prepare`, which then comes before every pass. Else CUPTI repeats each launch
  // by itself, some 17 ms each time, and restores memory in between, which leaves the caches full of it.
  bool repeatable = false;
  std::function<cuda::Result()> prepare;  // poisons the tensors and flushes or fills the L2; not counted
  // Launches the kernels of one call, each finished before the next. Nothing else may be launched here.
  std::function<cuda::Result()> launch;
};

// Keeps from one collection to the next what does not depend on the kernels.
class CounterCollector {
 public:
  CounterCollector() = default;
  CounterCollector(const CounterCollector&) = delete;
  CounterCollector& operator=(const CounterCollector&) = delete;
  ~CounterCollector() { release(); }

  // Collects `metrics` for every launch of `repetitions` calls, each repeated for every pass. Trouble with the profiler
  // stands in the report; `error` is the kernels' own. `more`: see CountRequest.
  CounterReport collect(const ProfiledGpu& gpu, const ProfiledCall& call, const std::vector<std::string>& metrics,
                        int repetitions, bool more, cuda::Result& error);
  // Lets go of the GPU: no session, and no profiler. To be called before anything is timed, and before other profilers.
  void release();

 private:
  bool start(const ProfiledGpu& gpu, CounterReport& report);
  void ask_availability(const ProfiledGpu& gpu, CounterReport& report);
  bool schedule(const std::vector<std::string>& wanted, CounterReport& report);
  bool count_one_call(const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report, cuda::Result& error);
  bool run_passes(const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report, cuda::Result& error);
  bool begin_pass(std::size_t pass, const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report);
  bool open_session(const ProfiledGpu& gpu, const ProfiledCall& call, CounterReport& report);
  bool add_values(const ProfiledCall& call, CounterReport& report);
  void end_session();

  std::unique_ptr<const cupti::Library> library_;
  std::unique_ptr<const cupti::Profiler> profiler_;
  bool initialized_ = false;
  std::string chip_;
  std::vector<std::uint8_t> availability_;  // empty: CUPTI has not told
  std::vector<std::string> wanted_;         // what schedule_ is of
  CounterSchedule schedule_;
  std::optional<ProfilerLock> lock_;  // as long as there is a session
  std::optional<RangeSession> session_;
  bool renewable_ = false;                 // it has counted a call whose passes were ours to repeat
  std::size_t passes_of_new_session_ = 0;  // that it took for the first one
};

// How long a worker waits for another one that profiles the same GPU.
inline constexpr std::chrono::milliseconds kProfilerPatience{60'000};

}  // namespace apo
