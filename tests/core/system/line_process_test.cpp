// tests/core/system/line_process_test.cpp - lines with the time of their arrival, and nothing that stays behind.
#include "harness/core/system/line_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "tests/processes.h"

namespace apo {
namespace {

struct Arrived {
  std::vector<std::string> lines;
  std::vector<double> seconds;
};

ProcessResult run_shell(const std::string& command, Arrived& arrived, double timeout_s = 1000) {
  return run_lines({"sh", "-c", command}, {.timeout_s = timeout_s}, [&](std::string_view line, double seconds) {
    arrived.lines.emplace_back(line);
    arrived.seconds.push_back(seconds);
    return line != "stop";
  });
}

bool lives(const std::string& pid) {
  return kill(static_cast<pid_t>(parse_int(trim(pid)).value()), 0) == 0;
}

TEST(LineProcess, EachLineHasTheTimeOfItsArrival) {
  const TemporaryFolder folder;
  const std::string go = (folder.path() / "go").string();
  std::vector<std::string> lines;
  std::vector<double> arrived;
  const ProcessResult result =
      run_lines({"sh", "-c", "echo a; while [ ! -e " + go + " ]; do sleep 0.01; done; printf 'b\\nc'; exit 3"},
                {.timeout_s = 1000}, [&](std::string_view line, double seconds) {
                  lines.emplace_back(line);
                  arrived.push_back(seconds);
                  if (line == "a") {
                    std::this_thread::sleep_for(std::chrono::milliseconds(100));
                    write_file_atomically(go, "");
                  }
                  return true;
                });
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_GE(arrived[1] - arrived[0], 0.1);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.left_behind, 0);
  EXPECT_FALSE(result.timed_out);
}

TEST(LineProcess, ErrorsAreKeptAndOutputWhereThereAreNone) {
  Arrived arrived;
  EXPECT_EQ(run_shell("echo out; echo err >&2", arrived).printed(), "err\n");
  EXPECT_EQ(run_shell("echo out", arrived).printed(), "out\n");
}

TEST(LineProcess, ALineMayEndTheProgram) {
  Arrived arrived;
  const ProcessResult result = run_shell("echo stop; sleep 100000", arrived);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.timed_out);
}

TEST(LineProcess, TheDeadlineEndsTheWholeGroup) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  Arrived arrived;
  const ProcessResult result = testing::within_a_limit_that_suffices_for(file, [&](double limit_s) {
    return run_shell("sleep 100000 & echo $! > " + file + ".part; mv " + file + ".part " + file + "; wait", arrived,
                     limit_s);
  });
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(lives(read_file(file)));
}

TEST(LineProcess, WhatLeavesItsGroupIsCountedAndEnded) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  Arrived arrived;
  const ProcessResult result = run_shell(
      "setsid sh -c 'echo $$ > " + file + "; exec sleep 100000' & while [ ! -s " + file + " ]; do :; done", arrived);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.left_behind, 1);
  EXPECT_FALSE(result.timed_out) << "it held the outputs open";
  EXPECT_FALSE(lives(read_file(file)));
}

TEST(LineProcess, AHelperThatEndsSoonAfterIsNotLeftBehind) {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  Arrived arrived;
  // It reads until its program has ended.
  EXPECT_EQ(run_shell("mkfifo " + pipe + "; cat " + pipe + " & exec 3>" + pipe + "; exit 0", arrived).left_behind, 0);
}

TEST(LineProcess, WhatIsLeftBehindMayPrintForever) {
  Arrived arrived;
  const ProcessResult result = run_shell("yes & exit 0", arrived);
  EXPECT_EQ(result.left_behind, 1);
  EXPECT_FALSE(result.timed_out);
}

TEST(LineProcess, AnUnknownProgramIsAnErrorOfTheEnvironment) {
  EXPECT_THROW(run_lines({"no-such-program-here"}, {}, [](std::string_view, double) { return true; }),
               EnvironmentError);
}

}  // namespace
}  // namespace apo
