// harness/profile/gpu/profile_processes.h - the processes of one profile on a GPU: while one works the next one starts,
// and the last one ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/runtime/candidate_process.h"

namespace apo {

// One configuration on a GPU.
struct CudaSubject {
  const Runtime& runtime;
  const Build& build;
  const InputSet& inputs;
  const Configuration& configuration;
  const Workload& workload;
  CachePolicy cache;
};

// Each profiler gets a fresh process: what it does to code and device must not reach the times, nor another profiler.
class ProfileProcesses {
 public:
  // Takes the runtime's fresh process, which nothing watches, as the first, and begins to start one. `need_bytes`: of
  // all tensors, in `memory_bytes` of the GPU. Where they fill it one process comes after the other.
  ProfileProcesses(const Runtime& runtime, double need_bytes, std::int64_t memory_bytes);
  ProfileProcesses(const ProfileProcesses&) = delete;
  ProfileProcesses& operator=(const ProfileProcesses&) = delete;

  // The next one, with the configuration loaded; from when it has answered on, `ahead` others start, if they have not
  // begun yet. The tensors are laid out once, and again only where host code, which could have written to them, had
  // them. Throws EnvironmentError. `purpose` stands in the log.
  CandidateProcess next(const CudaSubject& subject, const std::string& purpose, int ahead);
  // Ends it beside the next steps.
  void end(CandidateProcess& candidate);
  // Until no other process of this profile ends or, where `starts`, starts.
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

}  // namespace apo
