// harness/profile/gpu/profile_processes.h - processes of a profile: each runs one configuration.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/profile/conditions.h"
#include "harness/profile/host/host_profile.h"
#include "harness/runtime/runtime.h"

namespace apo {

// Options of a process on the first `threads` CPUs.
WorkerOptions process_options(const Runtime& runtime, int threads, std::uint64_t layout_seed);

// Lays out the tensors of one call with the inputs in them, which have to outlive it.
std::shared_ptr<const SharedTensors> process_tensors(const Runtime& runtime, const Configuration& configuration,
                                                     const Axes& axes, const InputSet& inputs);

// A process with one configuration loaded. Its functions throw EnvironmentError when the configuration does not run.
class CandidateProcess {
 public:
  // Loads the build into the worker, which may still be starting, and attaches the tensors.
  CandidateProcess(const Build& build, const Configuration& configuration,
                   std::shared_ptr<const SharedTensors> shared_tensors, std::unique_ptr<Worker> worker, Target target);

  // Measures nanoseconds of one call, each the mean of `repetitions` back to back.
  std::vector<double> time(int calls, CachePolicy cache, int repetitions = 1);
  // Measures nanoseconds of one call by CUPTI Activity, on target cuda. Empty where `missing` says why.
  std::vector<double> record(int calls, CachePolicy cache, int repetitions, std::string& missing);

  Worker& worker() { return *worker_; }
  // Takes the worker out; this object is unusable afterwards.
  std::unique_ptr<Worker> take_worker() { return std::move(worker_); }

 private:
  template <class T>
  void require(const Result<T>& result) const;

  std::string label_;
  Target target_;
  std::shared_ptr<const SharedTensors> shared_tensors_;
  std::unique_ptr<Worker> worker_;
};

// The configuration to profile on a GPU.
struct CudaSubject {
  const Runtime& runtime;
  const Build& build;
  const InputSet& inputs;
  const Configuration& configuration;
  const Workload& workload;
  CachePolicy cache;
};

// Gives each profiler a fresh process, because its changes to code and device must not reach the times or another
// profiler.
class ProfileProcesses {
 public:
  // Uses the runtime's fresh process, which nothing watches, as the first, and begins to start one. `need_bytes` is the
  // size of all tensors, out of `memory_bytes` of the GPU; where they fill it, processes run one after the other.
  ProfileProcesses(const Runtime& runtime, double need_bytes, std::int64_t memory_bytes);
  ProfileProcesses(const ProfileProcesses&) = delete;
  ProfileProcesses& operator=(const ProfileProcesses&) = delete;

  // Returns the next process with the configuration loaded. Once it has answered, `ahead` others start, unless they
  // have already begun. The tensors are laid out once. Throws EnvironmentError. `purpose` appears in the log.
  CandidateProcess next(const CudaSubject& subject, const std::string& purpose, int ahead);
  // Ends it in the background.
  void end(CandidateProcess& candidate);
  // Waits until no other process of this profile ends or, with `starts`, starts.
  void await_quiet(const std::string& purpose, bool starts);

 private:
  WorkerOptions options(int index) const;
  void start_ahead(int count);
  std::unique_ptr<Worker> take();

  const Runtime& runtime_;
  bool roomy_;
  std::uint64_t seed_;
  int taken_ = 0;
  int started_ = 0;
  std::unique_ptr<Worker> fresh_;
  std::shared_ptr<const SharedTensors> shared_tensors_;
  WorkerPool ahead_;
};

// `measured` holds the facts known before any run; `sources` are the variant's files. Throws as measure_profile() does.
Profile profile_on_cuda(const CudaSubject& subject, ProfileProcesses& processes, const Machine& machine,
                        ProfileInputs measured, const CounterChoice& choice, const std::vector<SourceFile>& sources);

}  // namespace apo
