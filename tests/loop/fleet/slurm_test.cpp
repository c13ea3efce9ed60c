// tests/loop/fleet/slurm_test.cpp - what a job says of itself, and the workers that are started for it or in it.
#include "harness/loop/fleet/slurm.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "harness/core/error.h"

namespace apo {
namespace {

const LocalWorkers kJobWorkers = {.program = "/a place/apo", .families = {}, .builds_folder = "/work/cache/builds"};

// The environment of a job, while this lives.
class InJob {
 public:
  InJob(std::initializer_list<std::pair<const char*, const char*>> variables) {
    for (const char* name : kNames) {
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) {
      setenv(name, value, 1);
    }
  }
  ~InJob() {
    for (const char* name : kNames) {
      unsetenv(name);
    }
  }
  InJob(const InJob&) = delete;
  InJob& operator=(const InJob&) = delete;

 private:
  static constexpr const char* kNames[] = {"SLURM_JOB_ID",        "SLURM_STEP_ID",           "SLURM_NTASKS",
                                           "SLURM_CPUS_PER_TASK", "SLURM_JOB_CPUS_PER_NODE", "SLURM_GPUS",
                                           "SLURM_GPUS_ON_NODE",  "SLURM_JOB_NUM_NODES"};
};

TEST(Slurm, PlacesEachWorkerAsAJobOrAsAStepOfThisOne) {
  {
    const InJob none{};
    const std::string of_jobs = slurm_template("partition=gpu gres=gpu:1 n=2 time=2:00:00", kJobWorkers);
    EXPECT_EQ(of_jobs,
              "2*exec srun --quiet --ntasks=1 '--partition=gpu' '--gres=gpu:1' '--time=2:00:00' '/a place/apo' worker "
              "--serve --target host");
    EXPECT_EQ(worker_commands({of_jobs}, kJobWorkers).commands.size(), 2U);
  }
  const InJob job{{"SLURM_JOB_ID", "7"}};
  EXPECT_EQ(slurm_template("n=1", kJobWorkers),
            "1*exec srun --quiet --ntasks=1 --exact '/a place/apo' worker --serve --target host");
  EXPECT_THROW(slurm_template("gpu", kJobWorkers), UserError);
  EXPECT_THROW(slurm_template("n=none", kJobWorkers), UserError);
}

TEST(Slurm, OutsideOfAJobThereIsNoAllocation) {
  const InJob none{{"SLURM_NTASKS", "8"}};
  EXPECT_FALSE(slurm_allocation(Target::host));
}

TEST(Slurm, AJobHasAWorkerForEachOfItsTasks) {
  const InJob job{{"SLURM_JOB_ID", "7"},
                  {"SLURM_NTASKS", "6"},
                  {"SLURM_CPUS_PER_TASK", "4"},
                  {"SLURM_JOB_CPUS_PER_NODE", "16(x1),8"}};
  const auto allocation = slurm_allocation(Target::host);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->job, "7");
  EXPECT_EQ(allocation_template(*allocation, kJobWorkers),
            "6*exec srun --quiet --ntasks=1 --exact --mem=0 --cpus-per-task=4 '/a place/apo' worker --serve --target "
            "host");
}

TEST(Slurm, TasksShareTheCpusThatTheJobHas) {
  const InJob job{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_CPUS_PER_NODE", "64(x2)"}};
  EXPECT_EQ(slurm_allocation(Target::host)->cpus_each, 64);
}

TEST(Slurm, AJobWithoutTasksHasAWorkerForEachPairOfCpusOfItsNodes) {
  const InJob job{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_CPUS_PER_NODE", "16(x2),5"}};
  const auto allocation = slurm_allocation(Target::host);
  ASSERT_TRUE(allocation);
  EXPECT_EQ(allocation->workers, 18);
  EXPECT_EQ(allocation->cpus_each, 2);
}

TEST(Slurm, OnGpusAJobHasAWorkerForEachOfThem) {
  const InJob job{{"SLURM_JOB_ID", "7"},        {"SLURM_NTASKS", "2"},       {"SLURM_CPUS_PER_TASK", "1"},
                  {"SLURM_JOB_NUM_NODES", "2"}, {"SLURM_GPUS_ON_NODE", "8"}, {"SLURM_JOB_CPUS_PER_NODE", "64(x2)"}};
  LocalWorkers here = kJobWorkers;
  here.target = Target::cuda;
  EXPECT_EQ(allocation_template(*slurm_allocation(Target::cuda), here),
            "16*exec srun --quiet --ntasks=1 --exact --mem=0 --cpus-per-task=8 --gres=gpu:1 '/a place/apo' worker "
            "--serve --target cuda");
  setenv("SLURM_GPUS", "a100:4", 1);
  EXPECT_EQ(slurm_allocation(Target::cuda)->workers, 4);
}

TEST(Slurm, AJobForOneWorkerIsThisProcesssOwn) {
  const InJob job{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "1"}, {"SLURM_JOB_CPUS_PER_NODE", "8"}};
  EXPECT_FALSE(slurm_allocation(Target::host));
}

TEST(Slurm, ATaskOfSrunHasAShareOfItsOwnAndAShellOfSallocHasTheJob) {
  const InJob job{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_ID", "0"}};
  EXPECT_FALSE(slurm_allocation(Target::host));
  setenv("SLURM_STEP_ID", "4294967290", 1);
  EXPECT_TRUE(slurm_allocation(Target::host));
}

TEST(Slurm, AJobThatSaysNonsenseHasNoRoom) {
  const InJob job{{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "many"}, {"SLURM_JOB_CPUS_PER_NODE", "(x,4(x"}};
  EXPECT_FALSE(slurm_allocation(Target::host));
}

}  // namespace
}  // namespace apo
