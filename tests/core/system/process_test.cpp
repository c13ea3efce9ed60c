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

// ---------------------------------------------------------------- lines

struct Arrived {
  std::vector<std::string> lines;
  std::vector<double> seconds;
};

ProcessResult run_lines(const std::string& command, Arrived& arrived, double patience_s = 1,
                        const std::function<void()>& on_line = {}) {
  return run_process({"sh", "-c", command}, {.timeout_s = 1000,
                                             .until_last = true,
                                             .patience_s = patience_s,
                                             .on_line = [&](std::string_view line, double seconds) {
                                               arrived.lines.emplace_back(line);
                                               arrived.seconds.push_back(seconds);
                                               if (on_line) {
                                                 on_line();
                                               }
                                               return line != "stop";
                                             }});
}

TEST(ProcessLines, EachHasTheTimeOfItsArrival) {
  const TemporaryFolder folder;
  const std::string go = (folder.path() / "go").string();
  Arrived arrived;
  const ProcessResult result =
      run_lines("echo a; while [ ! -e " + go + " ]; do sleep 0.01; done; printf 'b\\nc'; exit 3", arrived, 1, [&] {
        if (arrived.lines.size() == 1) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          write_file_atomically(go, "");
        }
      });
  EXPECT_EQ(arrived.lines, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_GE(arrived.seconds[1] - arrived.seconds[0], 0.1);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.left_behind, 0);
  EXPECT_FALSE(result.timed_out);
}

TEST(ProcessLines, ErrorsAreKeptAndOutputWhereThereAreNone) {
  Arrived arrived;
  EXPECT_EQ(run_lines("echo out; echo err >&2", arrived).printed(), "err\n");
  EXPECT_EQ(run_lines("echo out", arrived).printed(), "out\n");
}

TEST(ProcessLines, OneMayEndTheProgram) {
  Arrived arrived;
  const ProcessResult result = run_lines("echo stop; sleep 100000", arrived);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.timed_out);
}

TEST(ProcessPatience, WhatLeavesItsGroupIsCountedAndEnded) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  Arrived arrived;
  const ProcessResult result = run_lines(
      "setsid sh -c 'echo $$ > " + file + "; exec sleep 100000' & while [ ! -s " + file + " ]; do :; done", arrived);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.left_behind, 1);
  EXPECT_FALSE(result.timed_out) << "it held the outputs open";
  EXPECT_FALSE(testing::is_running(std::stoi(read_file(file))));
}

TEST(ProcessPatience, AHelperThatEndsSoonAfterIsNotLeftBehind) {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  Arrived arrived;
  // It reads until its program has ended.
  const std::string command = "mkfifo " + pipe + "; cat " + pipe + " & exec 3>" + pipe + "; exit 0";
  EXPECT_EQ(run_lines(command, arrived, 1000).left_behind, 0);
}

TEST(ProcessPatience, WhatIsLeftBehindMayPrintForever) {
  Arrived arrived;
  const ProcessResult result = run_lines("yes & exit 0", arrived, 0.01);
  EXPECT_EQ(result.left_behind, 1);
  EXPECT_FALSE(result.timed_out);
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
