// tests/loop/fleet/worker_commands_test.cpp - templates of workers as commands.
#include "harness/loop/fleet/worker_commands.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"

namespace apo {
namespace {

const LocalWorkers kHere = {.program = "/a place/apo", .families = {}, .builds_folder = "/work/cache/builds"};

TEST(WorkerCommands, ACommandCountsItsWorkers) {
  EXPECT_EQ(worker_commands({"3*ssh gpu{n} apo worker --serve", "other {n}"}, kHere),
            (std::vector<std::string>{"ssh gpu0 apo worker --serve", "ssh gpu1 apo worker --serve",
                                      "ssh gpu2 apo worker --serve", "other 3"}));
}

TEST(WorkerCommands, AStarThatFollowsNoNumberIsTheCommands) {
  EXPECT_EQ(worker_commands({"run *"}, kHere), std::vector<std::string>{"run *"});
  EXPECT_THROW(worker_commands({"0*x"}, kHere), UserError);
}

TEST(WorkerCommands, AFileHasTemplates) {
  const TemporaryFolder folder("apo-workers-test");
  const std::string file = (folder.path() / "workers.json").string();
  write_file_atomically(file, R"({"workers": ["2*a{n}", "b"]})");
  EXPECT_EQ(worker_commands({file}, kHere), (std::vector<std::string>{"a0", "a1", "b"}));
  write_file_atomically(file, "[]");
  EXPECT_THROW(worker_commands({file}, kHere), UserError);
}

TEST(WorkerCommands, LocalOnesShareTheCpusOfAHostAndTheBuilds) {
  const std::vector<std::string> commands = worker_commands({"local:1"}, kHere);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_TRUE(
      commands[0].starts_with("APO_CACHE='/work/cache' exec '/a place/apo' worker --serve --target host --cpus "))
      << commands[0];
  const std::size_t cpus = usable_cpus().size();
  EXPECT_EQ(worker_commands({"local:" + std::to_string(cpus)}, kHere).size(), cpus);
  EXPECT_THROW(worker_commands({"local:" + std::to_string(cpus + 1)}, kHere), UserError);
  EXPECT_THROW(worker_commands({"local:none"}, kHere), UserError);
}

TEST(WorkerCommands, SlurmPlacesEachAsAJobOrAsAStepOfThisOne) {
  unsetenv("SLURM_JOB_ID");
  const std::string of_jobs = slurm_template("partition=gpu gres=gpu:1 n=2 time=2:00:00", kHere);
  EXPECT_EQ(of_jobs,
            "2*exec srun --quiet --ntasks=1 '--partition=gpu' '--gres=gpu:1' '--time=2:00:00' '/a place/apo' worker "
            "--serve --target host");
  EXPECT_EQ(worker_commands({of_jobs}, kHere).size(), 2U);
  setenv("SLURM_JOB_ID", "7", 1);
  EXPECT_EQ(slurm_template("n=1", kHere),
            "1*exec srun --quiet --ntasks=1 --exact '/a place/apo' worker --serve --target host");
  unsetenv("SLURM_JOB_ID");
  EXPECT_THROW(slurm_template("gpu", kHere), UserError);
  EXPECT_THROW(slurm_template("n=none", kHere), UserError);
}

TEST(WorkerCommands, LocalOnesOnGpusTakeOneEach) {
  setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5", 1);
  LocalWorkers here = kHere;
  here.target = Target::cuda;
  const std::vector<std::string> commands = worker_commands({"local:all"}, here);
  const auto more = [&] { worker_commands({"local:3"}, here); };
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_TRUE(commands[0].starts_with("CUDA_VISIBLE_DEVICES='3' ")) << commands[0];
  EXPECT_TRUE(commands[1].starts_with("CUDA_VISIBLE_DEVICES='GPU-5' ")) << commands[1];
  EXPECT_THROW(more(), UserError);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace apo
