// tests/worker/code/code_watch_test.cpp - a worker that another program starts and watches.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/worker/candidates.h"

namespace apo::testing {
namespace {

namespace fs = std::filesystem;

class Watched : public ::testing::Test {
 protected:
  // A shell script that is given the worker's command line.
  WorkerOptions options(const std::string& script, WorkerOptions options = worker_options()) const {
    options.watcher = {"/bin/sh", "-c", script, folder_.path().string()};  // $0 is the folder
    return options;
  }
  std::string written(const std::string& name) const {
    const fs::path path = folder_.path() / name;
    return fs::exists(path) ? read_file(path) : "";
  }

  TemporaryFolder folder_{"apo-watched"};
};

TEST_F(Watched, WorksThroughTheDescriptorThatItInherits) {
  EXPECT_FALSE(judge(compile_launch("for (int64_t i = 0; i < args->n; ++i) args->y[i] = args->x[i]; return 0;").object,
                     options("\"$@\"; true")));
}

TEST_F(Watched, TheWatcherHasTimeToWriteItsReport) {
  { const Worker worker(options("\"$@\"; sleep 0.3; echo $? >$0/report")); }
  EXPECT_EQ(written("report"), "0\n");
}

TEST_F(Watched, AfterAFailureTheReportIsWrittenToo) {
  const auto failure =
      judge(compile_launch("__builtin_trap(); return 0;").object, options("\"$@\"; sleep 0.3; echo done >$0/report"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::faulted);
  EXPECT_EQ(written("report"), "done\n");
}

TEST_F(Watched, AnEndlessCallInASessionOfItsOwnLeavesNoProcess) {
  const WorkerOptions endless =
      options("setsid sh -c 'echo $$ >$0/pid; exec \"$@\"' \"$0\" \"$@\"; echo over >$0/report", impatient_options());
  const auto failure = judge(compile_launch("volatile int go = 1; while (go) {} return 0;").object, endless);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::timed_out);
  const int pid = std::stoi("0" + written("pid"));
  ASSERT_GT(pid, 0);
  EXPECT_FALSE(is_running(pid));
  EXPECT_EQ(written("report"), "over\n");
}

}  // namespace
}  // namespace apo::testing
