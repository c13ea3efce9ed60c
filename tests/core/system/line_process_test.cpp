// tests/core/system/line_process_test.cpp - lines with the time of their arrival, and nothing that stays behind.
#include "harness/core/system/line_process.h"

#include <gtest/gtest.h>

#include <csignal>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

struct Arrived {
  std::vector<std::string> lines;
  std::vector<double> seconds;
};

LineProcessResult run_shell(const std::string& command, Arrived& arrived, double timeout_s = 20) {
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
  Arrived arrived;
  const LineProcessResult result = run_shell("echo a; sleep 0.3; printf 'b\\nc'; exit 3", arrived);
  EXPECT_EQ(arrived.lines, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_GE(arrived.seconds[1] - arrived.seconds[0], 0.25);
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
  const LineProcessResult result = run_shell("echo stop; sleep 20", arrived);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.timed_out);
  EXPECT_LT(result.seconds, 10);
}

TEST(LineProcess, TheDeadlineEndsTheWholeGroup) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  Arrived arrived;
  const LineProcessResult result = run_shell("sleep 30 & echo $! > " + file + "; wait", arrived, 0.5);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(lives(read_file(file)));
}

TEST(LineProcess, WhatLeavesItsGroupIsCountedAndEnded) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  Arrived arrived;
  const LineProcessResult result = run_shell(
      "setsid sh -c 'echo $$ > " + file + "; exec sleep 30' & while [ ! -s " + file + " ]; do :; done", arrived);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.left_behind, 1);
  EXPECT_FALSE(result.timed_out) << "it held the outputs open";
  EXPECT_FALSE(lives(read_file(file)));
}

TEST(LineProcess, AHelperThatEndsSoonAfterIsNotLeftBehind) {
  Arrived arrived;
  EXPECT_EQ(run_shell("sleep 0.2 & exit 0", arrived).left_behind, 0);
}

TEST(LineProcess, WhatIsLeftBehindMayPrintForever) {
  Arrived arrived;
  const LineProcessResult result = run_shell("yes & exit 0", arrived);
  EXPECT_EQ(result.left_behind, 1);
  EXPECT_FALSE(result.timed_out);
}

TEST(LineProcess, AnUnknownProgramIsAnErrorOfTheEnvironment) {
  EXPECT_THROW(run_lines({"no-such-program-here"}, {}, [](std::string_view, double) { return true; }),
               EnvironmentError);
}

}  // namespace
}  // namespace apo
