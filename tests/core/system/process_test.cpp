// tests/core/system/process_test.cpp - running programs: output, deadlines, signals, nothing left behind.
#include "harness/core/system/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "tests/processes.h"
#include "tests/text.h"

namespace apo {
namespace {

bool ends(std::int64_t process) {
  return testing::comes_about([&] { return !testing::is_running(static_cast<int>(process)); });
}

TEST(Process, KeepsBothOutputsAndTheExitCode) {
  const ProcessResult result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.error, "err\n");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_FALSE(result.ok());
}

TEST(Process, FeedsStandardInputLargerThanAPipe) {
  const std::string input(300000, 'x');
  const ProcessResult result = run_process({"wc", "-c"}, {.input = input});
  EXPECT_EQ(trim(result.output), "300000");
}

TEST(Process, AChildThatIgnoresItsInputDoesNotKillUs) {
  const ProcessResult result = run_process({"true"}, {.input = std::string(300000, 'x')});
  EXPECT_TRUE(result.ok());
}

TEST(Process, WhatIsPrintedBeyondTheLimitIsReadAndNotKept) {
  const ProcessResult result = run_process({"sh", "-c", "yes | head -c 1000000; echo end >&2"}, {.output_limit = 1000});
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.cut);
  EXPECT_EQ(result.output.size(), 1000U);
  EXPECT_EQ(result.error, "end\n");
  EXPECT_FALSE(run_process({"echo", "x"}, {.output_limit = 2}).cut);
}

TEST(Process, ADeadlineEndsTheWholeGroup) {
  const TemporaryFolder folder;
  const std::filesystem::path note = folder.path() / "pid";
  const ProcessResult result = testing::within_a_limit_that_suffices_for(note, [&](double limit_s) {
    return run_process({"sh", "-c", "sleep 100000 & echo $! > part; mv part pid; wait"},
                       {.timeout_s = limit_s, .working_folder = folder.path()});
  });
  EXPECT_TRUE(result.timed_out);
  const auto grandchild = parse_int(trim(read_file(note)));
  ASSERT_TRUE(grandchild);
  EXPECT_TRUE(ends(*grandchild));
}

TEST(Process, AStopEndsTheWholeGroupAndIsNoResult) {
  const TemporaryFolder folder;
  const std::filesystem::path note = folder.path() / "pid";
  std::stop_source stop;
  const std::jthread stopping([&] {
    testing::comes_about([&] { return std::filesystem::exists(note); });
    stop.request_stop();
  });
  EXPECT_THROW(run_process({"sh", "-c", "sleep 100000 & echo $! > part; mv part pid; wait"},
                           {.timeout_s = 100000, .working_folder = folder.path(), .stop = stop.get_token()}),
               Cancelled);
  const auto grandchild = parse_int(trim(read_file(note)));
  ASSERT_TRUE(grandchild);
  EXPECT_TRUE(ends(*grandchild));
}

TEST(Process, WhatAProgramStartedEndsWhenWeAreKilled) {
  const TemporaryFolder folder;
  const std::filesystem::path note = folder.path() / "pid";
  const pid_t runner = fork();
  if (runner == 0) {
    run_process({"sh", "-c", "sleep 100000 & echo $! > part; mv part pid; wait"},
                {.timeout_s = 100000, .working_folder = folder.path()});
    _exit(0);
  }
  ASSERT_TRUE(testing::comes_about([&] { return std::filesystem::exists(note); }));
  kill(runner, SIGKILL);
  ASSERT_EQ(waitpid(runner, nullptr, 0), runner);
  const auto grandchild = parse_int(trim(read_file(note)));
  ASSERT_TRUE(grandchild);
  EXPECT_TRUE(ends(*grandchild));
}

TEST(Process, OneThatClosesItsOutputsHasADeadlineToo) {
  EXPECT_TRUE(run_process({"sh", "-c", "exec >&- 2>&-; sleep 100000"}, {.timeout_s = 0.1}).timed_out);
}

// What leaves its session and has lost its parent; "daemon" is its process, once it runs.
std::string detached(const std::string& what) {
  return "(setsid sh -c 'echo $$ > part; mv part daemon; " + what +
         "' <&- >&- 2>&- &); while [ ! -e daemon ]; do sleep 0.01; done; ";
}

std::int64_t daemon_in(const TemporaryFolder& folder) {
  return parse_int(trim(read_file(folder.path() / "daemon"))).value();
}

TEST(ProcessUntilLast, LastsAsLongAsTheLastThatItStarted) {
  const TemporaryFolder folder;
  const ProcessResult result = run_process({"sh", "-c", detached("sleep 0.1; : > done") + "echo out; exit 3"},
                                           {.timeout_s = 1000, .working_folder = folder.path(), .until_last = true});
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "done"));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.left_behind, 0);
  EXPECT_GE(result.seconds, 0.1);
}

TEST(ProcessUntilLast, EndsAllAtItsDeadlineAndCountsThem) {
  const TemporaryFolder folder;
  const ProcessResult result = testing::within_a_limit_that_suffices_for(folder.path() / "daemon", [&](double limit_s) {
    return run_process({"sh", "-c", detached("exec sleep 100000")},
                       {.timeout_s = 2 * limit_s, .working_folder = folder.path(), .until_last = true});
  });
  EXPECT_TRUE(result.timed_out);
  EXPECT_LE(result.left_behind, 1);
  EXPECT_FALSE(testing::is_running(static_cast<int>(daemon_in(folder))));
}

TEST(ProcessUntilLast, AKilledSupervisorLeavesNothing) {
  const TemporaryFolder folder;
  const ProcessResult result =
      run_process({"sh", "-c", detached("exec sleep 100000") + "kill -KILL $PPID; exec sleep 100000"},
                  {.timeout_s = 1000, .working_folder = folder.path(), .until_last = true});
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_FALSE(testing::is_running(static_cast<int>(daemon_in(folder))));
}

TEST(ProcessUntilLast, EndsAllWhenWeAreKilled) {
  const TemporaryFolder folder;
  const pid_t runner = fork();
  if (runner == 0) {
    run_process({"sh", "-c", detached("exec sleep 100000")},
                {.timeout_s = 100000, .working_folder = folder.path(), .until_last = true});
    _exit(0);
  }
  ASSERT_TRUE(testing::comes_about([&] { return std::filesystem::exists(folder.path() / "daemon"); }));
  kill(runner, SIGKILL);
  ASSERT_EQ(waitpid(runner, nullptr, 0), runner);
  EXPECT_TRUE(ends(daemon_in(folder)));
}

TEST(ProcessUntilLast, AProgramThatCannotBeStartedIsTheEnvironmentsError) {
  EXPECT_THROW(run_process({"true"}, {.working_folder = "/no-such-folder", .until_last = true}), EnvironmentError);
}

TEST(Process, AProgramIsEndedByWhatWeIgnore) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  const ProcessResult result = run_process({"sh", "-c", "kill -XFSZ $$"});
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(result.signal, SIGXFSZ);
}

TEST(Process, ASignalIsReportedByName) {
  const ProcessResult result = run_process({"sh", "-c", "kill -SEGV $$"});
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_NE(signal_name(SIGSEGV).find("SIGSEGV"), std::string::npos);
}

TEST(Process, AnAbsentProgramIsTheEnvironmentsError) {
  EXPECT_THROW(run_process({"no-such-program-here"}), EnvironmentError);
  EXPECT_EQ(find_program("/"), std::nullopt);
}

TEST(Process, AdditionsReplaceWhatTheEnvironmentHad) {
  setenv("APO_TEST_VALUE", "old", 1);
  const ProcessResult result =
      run_process({"sh", "-c", "echo $APO_TEST_VALUE"}, {.environment = {"APO_TEST_VALUE=new"}});
  EXPECT_EQ(result.output, "new\n");
}

TEST(Machine, TheHostHasAStableIdentity) {
  const Machine machine = describe_host();
  EXPECT_EQ(machine.id, describe_host().id);
  EXPECT_TRUE(machine.id.starts_with("host-"));
  EXPECT_GE(machine.cores, 1);
  EXPECT_GT(machine.memory_bytes, 0);
}

TEST(Machine, AMissingCompilerNamesItsPackage) {
  expect_contains(error_of<EnvironmentError>([] { describe_compiler("no-such-compiler"); }), "apt-get install");
}

TEST(Machine, StealIsAShareOfTheTimeBetweenTwoReadings) {
  EXPECT_DOUBLE_EQ(steal_percent({.total = 100, .steal = 10}, {.total = 300, .steal = 20}), 5.0);
  EXPECT_DOUBLE_EQ(steal_percent({.total = 300, .steal = 20}, {.total = 100, .steal = 10}), 0.0);
  EXPECT_DOUBLE_EQ(steal_percent({}, {}), 0.0);
}

}  // namespace
}  // namespace apo
