// tests/profile/gpu/profile_processes_test.cpp - the processes of a GPU's profile, in their order, with device variants
// on this CPU in place of the GPU: what only a GPU has is missing, and the rest of the profile is there.
#include "harness/profile/gpu/profile_processes.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/profile/measure.h"
#include "tests/executor/cpu_runtime_fixture.h"
#include "tests/loop/stages.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using Names = std::vector<std::string>;

bool runs(int pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
}

struct ProfileProcessesTest : ::testing::Test {
  testing::CpuRuntime cpu{"copy", "variants", std::chrono::minutes(1)};
  Runtime runtime = cpu.runtime();
  const Workload& workload = *find_workload(cpu.family(), "n1001");
  const Configuration configuration{"copy/cuda_simple", {}};
  const Build build = runtime.build(configuration, workload.axes, false);
  const InputSet inputs = make_inputs(cpu.family(), workload.axes, 1, cpu.family().regimes.front(), 1);
  const CudaSubject subject{runtime, build, inputs, configuration, workload, CachePolicy::cold};

  void SetUp() override {
    runtime.sources = [](const Configuration&) { return std::vector<SourceFile>(); };
    ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  }

  // As on a GPU with room for everything.
  Profile profile(const CounterChoice& choice = {}) {
    const Machine machine{.target = Target::cuda, .cores = 1, .memory_bytes = std::int64_t{1} << 40};
    SilentObserver observer;
    return measure_profile(runtime, configuration, workload, machine, {}, CachePolicy::cold, observer, choice);
  }
};

TEST_F(ProfileProcessesTest, AProfileTimesFirstThenSamplesThenCountsAndWhatIsMissingCostsNothingElse) {
  const testing::Stages stages;
  const Profile measured = profile();
  EXPECT_EQ(
      stages.about({"start of", "times", "PC", "counters", "counts", "lay out"}),
      (Names{"lay out the tensors for times", "start of the process for times", "times by events", "times by Activity",
             "start of the process for PC samples", "PC samples", "start of the process for counters", "counters",
             "start of the process for counts of instructions", "counts of instructions"}));
  EXPECT_GT(measured.time_ns, 0);
  EXPECT_EQ(measured.rung, "events");
  for (const char* part : {"Activity records: ", "counters: ", "PC samples: ", "counts of instructions: "}) {
    EXPECT_NE(measured.missing.find(part), std::string::npos) << measured.missing;
  }
}

TEST_F(ProfileProcessesTest, ChosenCountersComeBeforeTheTimesAndNoInstructionsAreCounted) {
  const testing::Stages stages;
  profile({.metrics = {"a.sum"}});
  EXPECT_EQ(stages.about({"times by", "PC", "counters", "counts"}),
            (Names{"counters", "times by events", "times by Activity", "PC samples"}));
}

TEST_F(ProfileProcessesTest, TheRuntimesFreshProcessIsTheFirstAndTheOthersAreNewOnes) {
  WorkerOptions options = runtime.worker;
  auto fresh = std::make_unique<Worker>(options);
  const int pid = fresh->pid();
  runtime.worker_pool->keep(std::move(fresh));
  ProfileProcesses processes(runtime, 1, 1 << 20);
  CandidateProcess first = processes.next(subject, "times", 1);
  EXPECT_EQ(first.worker().pid(), pid);
  CandidateProcess second = processes.next(subject, "PC samples", 0);
  EXPECT_NE(second.worker().pid(), pid);
  EXPECT_EQ(second.time(2, CachePolicy::warm).size(), 2U);
  processes.end(first);
  processes.await_quiet("counters", true);
  EXPECT_FALSE(runs(pid));
}

// A program that notes each of its starts before it becomes the worker.
struct CountedStarts {
  explicit CountedStarts(Runtime& runtime) {
    write_file_atomically(
        program, "#!/bin/sh\necho x >> " + log.string() + "\nexec " + runtime.worker.program.string() + " \"$@\"\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    runtime.worker.program = program;
  }
  std::size_t count() const { return read_file(log).size() / 2; }

  TemporaryFolder folder{"apo-starts"};
  std::filesystem::path program = folder.path() / "worker";
  std::filesystem::path log = folder.path() / "log";
};

TEST_F(ProfileProcessesTest, AsManyStartAheadAsWereAskedForAndAreTheNextOnes) {
  const CountedStarts starts(runtime);
  ProfileProcesses processes(runtime, 1, 1 << 20);
  CandidateProcess first = processes.next(subject, "times", 1);
  processes.await_quiet("times", true);
  EXPECT_EQ(starts.count(), 2U);
  CandidateProcess second = processes.next(subject, "PC samples", 2);
  processes.await_quiet("counters", true);
  EXPECT_EQ(starts.count(), 4U);
  CandidateProcess third = processes.next(subject, "counters", 1);
  CandidateProcess fourth = processes.next(subject, "counts", 0);
  processes.await_quiet("nothing", true);
  EXPECT_EQ(starts.count(), 4U);
}

TEST_F(ProfileProcessesTest, AProcessThatDiesOrCannotStartLeavesTheNextOnesAlone) {
  ProfileProcesses processes(runtime, 1, 1 << 20);
  CandidateProcess first = processes.next(subject, "times", 0);
  kill(first.worker().pid(), SIGKILL);
  EXPECT_THROW(first.time(1, CachePolicy::warm), EnvironmentError);
  processes.end(first);
  const std::filesystem::path program = runtime.worker.program;
  runtime.worker.program = "/bin/false";
  EXPECT_THROW(processes.next(subject, "PC samples", 0), EnvironmentError);
  runtime.worker.program = "/no/such/program";
  EXPECT_THROW(processes.next(subject, "PC samples", 0), EnvironmentError);
  runtime.worker.program = program;
  CandidateProcess last = processes.next(subject, "counters", 0);
  EXPECT_EQ(last.time(1, CachePolicy::warm).size(), 1U);
}

TEST_F(ProfileProcessesTest, WhatCannotStartAheadIsNoTroubleOfTheOneThatWorks) {
  ProfileProcesses processes(runtime, 1, 1 << 20);
  runtime.worker.program = "/no/such/program";
  CandidateProcess first = processes.next(subject, "times", 2);
  EXPECT_EQ(first.time(1, CachePolicy::warm).size(), 1U);
  EXPECT_THROW(processes.next(subject, "PC samples", 0), EnvironmentError);
}

// A GPU has no room for a second copy of its tensors: the one before has ended when the next one attaches.
TEST_F(ProfileProcessesTest, TensorsThatFillTheMemoryHaveItAlone) {
  const CountedStarts starts(runtime);
  ProfileProcesses processes(runtime, 0.3, 1);
  CandidateProcess first = processes.next(subject, "times", 2);
  EXPECT_EQ(starts.count(), 1U);
  const int pid = first.worker().pid();
  processes.end(first);
  CandidateProcess second = processes.next(subject, "PC samples", 0);
  EXPECT_FALSE(runs(pid));
  EXPECT_EQ(second.time(1, CachePolicy::warm).size(), 1U);
}

TEST_F(ProfileProcessesTest, TensorsAreLaidOutOnce) {
  const testing::Stages stages;
  ProfileProcesses processes(runtime, 1, 1 << 20);
  CandidateProcess first = processes.next(subject, "device code", 0);
  CandidateProcess second = processes.next(subject, "device code", 0);
  EXPECT_EQ(stages.about({"lay out"}).size(), 1U);
}

}  // namespace
}  // namespace apo
