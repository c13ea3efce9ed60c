// tests/fleet/worker_commands_test.cpp - templates of workers as commands.
#include "harness/fleet/worker_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"

namespace apo {
namespace {

const LocalWorkers kHere = {.program = "/a place/apo", .families = {}, .builds_folder = "/work/cache/builds"};

TEST(WorkerCommands, ACommandCountsItsWorkers) {
  EXPECT_EQ(worker_commands({"3*ssh gpu{n} apo worker --serve", "other {n}"}, kHere).commands,
            (std::vector<std::string>{"ssh gpu0 apo worker --serve", "ssh gpu1 apo worker --serve",
                                      "ssh gpu2 apo worker --serve", "other 3"}));
}

TEST(WorkerCommands, AStarThatFollowsNoNumberIsTheCommands) {
  EXPECT_EQ(worker_commands({"run *"}, kHere).commands, std::vector<std::string>{"run *"});
  EXPECT_THROW(worker_commands({"0*x"}, kHere), UserError);
  EXPECT_THROW(worker_commands({"1000*x"}, kHere), UserError) << "a mistyped number";
}

TEST(WorkerCommands, AFileHasTemplates) {
  const TemporaryFolder folder("apo-workers-test");
  const std::string file = (folder.path() / "workers.json").string();
  write_file_atomically(file, R"({"workers": ["2*a{n}", "b"]})");
  EXPECT_EQ(worker_commands({file}, kHere).commands, (std::vector<std::string>{"a0", "a1", "b"}));
  write_file_atomically(file, "[]");
  EXPECT_THROW(worker_commands({file}, kHere), UserError);
  write_file_atomically(file, R"({"workers": [")" + file + R"("]})");
  EXPECT_THROW(worker_commands({file}, kHere), UserError) << "a file that names itself";
}

TEST(WorkerCommands, ACommandMayEndInTheNameOfAFile) {
  EXPECT_EQ(worker_commands({"start --with no.json"}, kHere).commands,
            std::vector<std::string>{"start --with no.json"});
}

TEST(WorkerCommands, LocalOnesShareTheCpusOfAHostAndTheBuilds) {
  const std::vector<std::string> commands = worker_commands({"local:1"}, kHere).commands;
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_TRUE(commands[0].starts_with("APO_CACHE=/work/cache exec '/a place/apo' worker --serve --target host --cpus "))
      << commands[0];
  const std::size_t cpus = usable_cpus().size();
  const WorkerCommands each = worker_commands({"local:" + std::to_string(cpus)}, kHere);
  EXPECT_EQ(each.commands.size(), cpus);
  EXPECT_EQ(each.cpus, std::vector<int>{usable_cpus().front()}) << "the driver has as many as each of them";
  EXPECT_TRUE(each.commands.back().ends_with(" --cpus " + std::to_string(usable_cpus().back())))
      << each.commands.back();
  EXPECT_THROW(worker_commands({"local:" + std::to_string(cpus + 1)}, kHere), UserError);
  EXPECT_THROW(worker_commands({"local:none"}, kHere), UserError);
}

TEST(WorkerCommands, LocalOnesHaveOneNumberOfCpusWhateverIsLeftOver) {
  const std::vector<int> cpus = usable_cpus();
  if (cpus.size() % 2 == 0 && cpus.size() > 2) {
    allow_cpus({cpus.begin(), cpus.end() - 1});
  }
  const std::size_t odd = usable_cpus().size();
  const WorkerCommands two = odd >= 2 ? worker_commands({"local:2"}, kHere) : worker_commands({"local:1"}, kHere);
  for (const std::string& command : two.commands) {
    const auto commas = static_cast<std::size_t>(std::ranges::count(command, ','));
    EXPECT_EQ(commas + 1, two.cpus.size()) << command;
  }
  allow_cpus(cpus);
}

TEST(WorkerCommands, LocalOnesOnGpusTakeOneEach) {
  setenv("CUDA_VISIBLE_DEVICES", "3,GPU-5", 1);
  LocalWorkers here = kHere;
  here.target = Target::cuda;
  const std::vector<std::string> commands = worker_commands({"local:all"}, here).commands;
  const auto more = [&] { worker_commands({"local:3"}, here); };
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_TRUE(commands[0].starts_with("CUDA_VISIBLE_DEVICES=3 ")) << commands[0];
  EXPECT_TRUE(commands[1].starts_with("CUDA_VISIBLE_DEVICES=GPU-5 ")) << commands[1];
  EXPECT_THROW(more(), UserError);
  unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace apo
