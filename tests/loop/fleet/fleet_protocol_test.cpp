// tests/loop/fleet/fleet_protocol_test.cpp - what a driver makes of workers that say the wrong thing. Each is a script.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/stopwatch.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/loop/fleet/fleet.h"

namespace apo {
namespace {

using Kind = FleetEvent::Kind;

const ProgramIdentity kProgram = {.version = "scripted", .build = "b", .schema = 1, .rule = "r"};

// A worker that has said hello, and goes on as the shell's commands say.
class ScriptedFleet : public ::testing::Test {
 protected:
  std::string worker(const std::string& script) {
    Hello hello{.program = kProgram, .machine = model_, .device = "device", .time_s = std::time(nullptr)};
    write_file_atomically(folder_.path() / "hello", to_message(hello).dump() + "\n");
    return fmt::format("cd {}; cat hello; {}; cat >/dev/null", folder_.path().string(), script);
  }

  void start(const std::string& script) {
    fleet_.emplace(FleetOptions{.commands = {worker(script)}, .program = kProgram, .silence_s = 20, .stuck_s = 30},
                   model_);
  }

  std::optional<FleetEvent> next(double patience_s = 20) {
    const auto start = std::chrono::steady_clock::now();
    while (seconds_since(start) < patience_s) {
      if (auto event = fleet_->next(std::chrono::milliseconds(100))) {
        return event;
      }
    }
    return std::nullopt;
  }

  // That has joined, and has task 5.
  void give_task(const std::string& script) {
    start(script);
    ASSERT_EQ(next()->kind, Kind::joined);
    fleet_->give(0, {.id = 5, .policy = {}, .candidate = {}, .incumbent = {}, .prediction = {}, .floor = {}}, {});
  }

  void expect_bad_answer() {
    const auto left = next();
    ASSERT_TRUE(left);
    EXPECT_EQ(left->kind, Kind::left);
    EXPECT_EQ(left->why, WorkerEnd::bad_answer) << left->note;
    EXPECT_TRUE(fleet_->is_out(0));
  }

  TemporaryFolder folder_{"apo-protocol-test"};
  Machine model_ = describe_host();
  std::optional<Fleet> fleet_;
};

TEST(FleetClock, AHelloMayHaveWaitedSinceItsWorkerStarted) {
  EXPECT_EQ(clock_error_s(1000, 1000, 1600), 0) << "read ten minutes later";
  EXPECT_EQ(clock_error_s(1600, 1000, 1600), 0);
  EXPECT_EQ(clock_error_s(930, 1000, 1600), 70) << "older than its worker";
  EXPECT_EQ(clock_error_s(1670, 1000, 1600), 70) << "of the future";
}

TEST_F(ScriptedFleet, AWorkerWithAnotherNumberOfCoresIsRefused) {
  const int cores = model_.cores;
  start("true");
  model_.cores = cores + 1;
  fleet_.emplace(FleetOptions{.commands = {fleet_->command(0)}, .program = kProgram}, model_);
  const auto left = next();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::wrong_device);
  EXPECT_NE(left->note.find(fmt::format("{} of the CPUs of", cores)), std::string::npos) << left->note;
}

TEST_F(ScriptedFleet, AnotherBuildOfTheSameVersionIsRefused) {
  start("true");
  ProgramIdentity other = kProgram;
  other.build = "another";
  fleet_.emplace(FleetOptions{.commands = {fleet_->command(0)}, .program = other}, model_);
  const auto left = next();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::wrong_version);
}

TEST_F(ScriptedFleet, ASecondHelloIsABadAnswer) {
  start("cat hello");
  ASSERT_EQ(next()->kind, Kind::joined);
  expect_bad_answer();
}

TEST_F(ScriptedFleet, ANeedBeforeAnyTaskIsABadAnswer) {
  start(R"(echo '{"type":"need","id":0,"sources":["c0ffee"],"family":""}')");
  ASSERT_EQ(next()->kind, Kind::joined);
  expect_bad_answer();
}

TEST_F(ScriptedFleet, AnAnswerToAnotherTaskIsABadAnswer) {
  give_task(R"(read task; echo '{"type":"answer","id":6,"sha256":"","journal":""}')");
  expect_bad_answer();
}

TEST_F(ScriptedFleet, ATaskThatStopsUnaskedIsABadAnswer) {
  give_task(R"(read task; echo '{"type":"cancelled","id":5}')");
  expect_bad_answer();
}

TEST_F(ScriptedFleet, WhatACancelledTaskNeedsIsNotSent) {
  give_task(R"(read task; read cancel; echo '{"type":"need","id":5,"sources":["c0ffee"],"family":"f"}';
               echo '{"type":"cancelled","id":5}'; read more && echo '{"type":"hello"}')");
  fleet_->cancel(0);
  EXPECT_FALSE(fleet_->is_idle(0)) << "it has not stopped yet";
  EXPECT_EQ(next()->kind, Kind::cancelled);
  EXPECT_TRUE(fleet_->is_idle(0));
  EXPECT_FALSE(next(0.3));
}

TEST_F(ScriptedFleet, AHeartbeatWithoutProgressForTooLongIsSilence) {
  give_task(R"(read task; echo '{"type":"heartbeat","quiet_s":12}'; echo '{"type":"heartbeat","quiet_s":31}')");
  const auto left = next();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::silent);
  EXPECT_NE(left->note.find("no progress"), std::string::npos) << left->note;
  EXPECT_FALSE(fleet_->is_out(0)) << "it is started again";
}

TEST_F(ScriptedFleet, AWorkerThatCannotJudgeOneCandidateIsStartedAgain) {
  give_task(R"(read task; echo '{"type":"failed","reason":"cannot_judge","what":"a header is missing"}')");
  const auto left = next();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::cannot_judge);
  EXPECT_EQ(left->task, 5);
  EXPECT_FALSE(fleet_->is_out(0));
}

TEST_F(ScriptedFleet, AWorkerThatClosesItsOutputAndLivesOnIsKilled) {
  start("exec >&-; sleep 1000");
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(next()->kind, Kind::joined);
  const auto left = next();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::died);
  EXPECT_LT(seconds_since(begin), 10);
}

TEST_F(ScriptedFleet, EndedWorkersAreGone) {
  start("true");
  ASSERT_EQ(next()->kind, Kind::joined);
  const pid_t pid = fleet_->pid(0);
  fleet_->end();
  EXPECT_NE(kill(pid, 0), 0);
  EXPECT_TRUE(fleet_->is_out(0));
  EXPECT_FALSE(next(0.1));
}

}  // namespace
}  // namespace apo
