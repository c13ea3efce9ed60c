// harness/runtime/candidate_process.h - runs one configuration in a process of its own, to time, count or sample it.
#pragma once

#include <memory>
#include <string>
#include <vector>

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

}  // namespace apo
