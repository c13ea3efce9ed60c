// tests/core/system/foreground_test.cpp - a person's own command: how it ends is told, signals reach it, nothing is
// left.
#include "harness/core/system/foreground.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "tests/processes.h"

namespace apo {
namespace {

using Words = std::vector<std::string>;

TEST(Foreground, TellsHowTheCommandEnded) {
  EXPECT_EQ(run_foreground({"sh", "-c", "exit 7"}).exit_code, 7);
  const ProcessResult killed = run_foreground({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(killed.signal, SIGTERM);
  EXPECT_EQ(killed.exit_code, -1);
}

TEST(Foreground, AddsToTheEnvironmentAndReplaces) {
  setenv("APO_TEST_OLD", "old", 1);
  const ProcessResult ran = run_foreground({"sh", "-c", "[ \"$APO_TEST_OLD$APO_TEST_NEW\" = newer ]"},
                                           {.environment = {"APO_TEST_OLD=new", "APO_TEST_NEW=er"}});
  unsetenv("APO_TEST_OLD");
  EXPECT_EQ(ran.exit_code, 0);
}

TEST(Foreground, AnUnknownOrUnusableProgramIsTheUsersMistake) {
  EXPECT_THROW(run_foreground({"no-such-program-of-ours"}), UserError);
  EXPECT_THROW(run_foreground({"/"}), UserError);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "data";
  write_file_atomically(file,
                        "\x7f"
                        "ELF of nothing");
  std::filesystem::permissions(file, std::filesystem::perms::all);
  EXPECT_THROW(run_foreground({file.string()}), UserError);
}

TEST(Foreground, EndsWhatTheCommandLeavesRunning) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  const ProcessResult ran =
      run_foreground({"sh", "-c", "(sleep 100000 & echo $! >" + file + ") </dev/null >/dev/null 2>&1"});
  EXPECT_EQ(ran.left_behind, 1);
  pid_t left = 0;
  std::ifstream(file) >> left;
  ASSERT_GT(left, 0);
  EXPECT_NE(kill(left, 0), 0) << "process " << left << " still runs";
}

// Runs the script in a process of its own, sends that process the signal when the script has made the file $READY, and
// returns how it ended.
int status_after(int signal, const std::string& script, bool to_group) {
  const TemporaryFolder folder;
  const std::filesystem::path ready = folder.path() / "ready";
  const Words command = {"sh", "-c", "READY=" + ready.string() + "; " + script};
  const pid_t runner = fork();
  if (runner == 0) {
    setpgid(0, 0);
    const ProcessResult ran = run_foreground(command);
    _exit(ran.signal != 0 ? 100 + ran.signal : ran.exit_code);
  }
  setpgid(runner, runner);
  EXPECT_TRUE(testing::comes_about([&] { return std::filesystem::exists(ready); }));
  kill(to_group ? -runner : runner, signal);
  int status = 0;
  waitpid(runner, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Foreground, CtrlCIsTheCommandsAlone) {
  EXPECT_EQ(status_after(SIGINT, ": >$READY; exec sleep 100000", true), 100 + SIGINT);
  EXPECT_EQ(status_after(SIGINT, "trap 'exit 5' INT; : >$READY; while :; do sleep 0.05; done", true), 5);
}

TEST(Foreground, ARequestToEndIsPassedOn) {
  EXPECT_EQ(status_after(SIGTERM, "trap 'exit 6' TERM; : >$READY; while :; do sleep 0.05; done", false), 6);
}

TEST(Foreground, TheCommandDoesNotOutliveUs) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  EXPECT_EQ(status_after(SIGKILL, "echo $$ >" + file + "; : >$READY; exec sleep 100000", false), -1);
  pid_t command = 0;
  std::ifstream(file) >> command;
  ASSERT_GT(command, 0);
  EXPECT_TRUE(testing::comes_about([&] { return !testing::is_running(command); }));
}

}  // namespace
}  // namespace apo
