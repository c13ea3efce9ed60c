// harness/profile/gpu/profile_processes.h - the processes of one profile on a GPU: while one works the next one starts,
// and the last one ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/runtime/candidate_process.h"

namespace apo {

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
  // have already begun. The tensors are laid out once, and again only after host code, which could have written to
  // them, had them. Throws EnvironmentError. `purpose` appears in the log.
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

}  // namespace apo
