// tests/loop/background_gates_test.cpp - what runs beside other gates leaves nothing behind when it is stopped.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/evaluate/plan.h"
#include "harness/loop/trial/registration.h"
#include "tests/held_compiler.h"

namespace apo {
namespace {

// Sleeps longer than any test, unless it is stopped.
std::vector<GateResult> sleep_as_check(const std::stop_token& stop) {
  run_process({"sleep", "100000"}, {.timeout_s = 100000, .stop = stop});
  return {};
}

TEST(BackgroundGates, WhatNobodyTakesIsCancelledAtTheEnd) {
  {
    const BackgroundGates gates(sleep_as_check);
    ASSERT_TRUE(testing::comes_about([] { return testing::has_child_with("sleep 100000"); }));
  }
  EXPECT_FALSE(testing::has_child_with("sleep 100000"));
}

TEST(BackgroundGates, ACancelledCheckLeavesNoCompilerAndNoHalfOfABuild) {
  const TemporaryFolder folder;
  const testing::HeldCompiler compiler(folder.path(), testing::kQuestions);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  const Paths paths = make_paths((folder.path() / "journal.db").string());
  Variant variant = Workspace(paths).catalogue().get("copy/cuda_simple");
  variant.name = "new";
  variant.source_hash = "of new";
  BackgroundGates gates([&](const std::stop_token& stop) { return executor_gates(paths, variant, stop); });
  const pid_t compiling = compiler.pid();
  setenv("PATH", path.c_str(), 1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(gates.take(stop.get_token()), Cancelled);
  EXPECT_FALSE(testing::is_running(compiling));
  for (const auto& entry : std::filesystem::directory_iterator(paths.builds)) {
    EXPECT_EQ(entry.path().filename(), "turns");
  }
}

// How often a process sleeps for this long, which no other does.
int sleepers(const std::string& seconds) {
  int found = 0;
  for (const int pid : testing::all_processes()) {
    found += testing::process_file(pid, "cmdline") == std::string("sleep\0", 6) + seconds + '\0' ? 1 : 0;
  }
  return found;
}

TEST(BackgroundGates, AKilledCampaignLeavesNoCompilerBehind) {
  const std::string seconds = std::to_string(100000 + getpid());
  const int campaign = fork();
  if (campaign == 0) {
    const BackgroundGates gates([&](const std::stop_token&) {
      run_process({"sleep", seconds});
      return std::vector<GateResult>();
    });
    pause();
    _exit(1);
  }
  const bool sleeps = testing::comes_about([&] { return sleepers(seconds) == 1; });
  kill(campaign, SIGKILL);
  ASSERT_EQ(waitpid(campaign, nullptr, 0), campaign);
  ASSERT_TRUE(sleeps);
  EXPECT_TRUE(testing::comes_about([&] { return sleepers(seconds) == 0; })) << "it stays behind";
}

}  // namespace
}  // namespace apo
