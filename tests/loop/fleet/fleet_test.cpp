// tests/loop/fleet/fleet_test.cpp - workers that join, are refused, die, hang and are started again.
#include "harness/loop/fleet/fleet.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include "harness/core/stopwatch.h"
#include "harness/core/system/machine.h"
#include "tests/loop/fleet/served_worker.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using namespace apo::testing;
using Kind = FleetEvent::Kind;

// What a driver of the program under test is.
const ProgramIdentity kThisProgram = identity_of_program(APO_VERSION, APO_PROGRAM);

FleetOptions options_of(const std::vector<std::string>& commands) {
  return {.commands = commands, .program = kThisProgram, .silence_s = 6, .restart_after_s = 0.1};
}

// The next event; nullopt when there was none in that time.
std::optional<FleetEvent> next(Fleet& fleet, double patience_s = 60) {
  const auto start = std::chrono::steady_clock::now();
  while (seconds_since(start) < patience_s) {
    if (auto event = fleet.next(std::chrono::milliseconds(100))) {
      return event;
    }
  }
  return std::nullopt;
}

WorkerEnd why_refused(const std::string& command, const Machine& machine = describe_host()) {
  Fleet fleet(options_of({command}), machine);
  const auto event = next(fleet);
  EXPECT_TRUE(event && event->kind == Kind::left);
  EXPECT_TRUE(fleet.is_out(0)) << "what is no better the next time is not started again";
  EXPECT_FALSE(event->note.empty());
  return event->why;
}

class FleetTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_{"apo-fleet-test"};
};

TEST_F(FleetTest, AnotherProgramIsRefused) {
  EXPECT_EQ(why_refused(worker_command(folder_, R"(sed -u 's/"rule":"[^"]*"/"rule":"of another"/')")),
            WorkerEnd::wrong_version);
  EXPECT_EQ(why_refused(worker_command(folder_, R"(sed -u 's/"protocol":[0-9]*/"protocol":99/')")),
            WorkerEnd::wrong_version);
}

TEST_F(FleetTest, AClockThatIsOffIsRefused) {
  EXPECT_EQ(why_refused(worker_command(folder_, R"(sed -u 's/"time":[0-9]*/"time":1700000000/')")),
            WorkerEnd::clock_off);
}

TEST_F(FleetTest, ADeviceOfAnotherModelIsRefused) {
  Machine other = describe_host();
  other.model = "another CPU";
  EXPECT_EQ(why_refused(worker_command(folder_), other), WorkerEnd::wrong_device);
}

TEST_F(FleetTest, ADeviceIsHeldByOneWorker) {
  Fleet fleet(options_of({worker_command(folder_), worker_command(folder_)}), describe_host());
  const auto first = next(fleet);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, Kind::joined);
  const auto second = next(fleet);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->kind, Kind::left);
  EXPECT_EQ(second->why, WorkerEnd::device_taken);
}

TEST_F(FleetTest, ACommandThatIsNoWorkerIsTriedAFewTimes) {
  FleetOptions options = options_of({"echo welcome; echo no such host >&2; exit 7"});
  options.most_failures = 3;
  Fleet fleet(options, describe_host());
  for (int i = 0; i < 3; ++i) {
    const auto event = next(fleet);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->why, WorkerEnd::not_started);
    EXPECT_EQ(event->note, "exit code 7: no such host");
  }
  EXPECT_TRUE(fleet.is_out(0));
}

TEST_F(FleetTest, AKilledWorkerLosesItsTaskAndIsStartedAgain) {
  Fleet fleet(options_of({worker_command(folder_)}), describe_host());
  ASSERT_EQ(next(fleet)->kind, Kind::joined);
  fleet.give(0, copy_task(5, "memcpy"), {});
  EXPECT_FALSE(fleet.is_idle(0));
  kill(fleet.pid(0), SIGKILL);
  const auto left = next(fleet);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->kind, Kind::left);
  EXPECT_EQ(left->why, WorkerEnd::died);
  EXPECT_EQ(left->task, 5);
  EXPECT_NE(left->note.find("SIGKILL"), std::string::npos) << left->note;
  EXPECT_FALSE(fleet.is_out(0));
  EXPECT_EQ(next(fleet)->kind, Kind::joined);
}

TEST_F(FleetTest, AWorkerThatHangsIsGivenUp) {
  Fleet fleet(options_of({worker_command(folder_)}), describe_host());
  ASSERT_EQ(next(fleet)->kind, Kind::joined);
  fleet.give(0, copy_task(5, "memcpy"), {});
  kill(fleet.pid(0), SIGSTOP);
  const auto left = next(fleet, 30);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::silent);
  EXPECT_EQ(left->task, 5);
}

TEST_F(FleetTest, APreemptedWorkerGivesItsTaskBack) {
  Fleet fleet(options_of({worker_command(folder_)}), describe_host());
  ASSERT_EQ(next(fleet)->kind, Kind::joined);
  fleet.give(0, copy_task(5, "memcpy"), {});
  kill(fleet.pid(0), SIGTERM);
  const auto left = next(fleet, 30);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::gave_back);
  EXPECT_EQ(left->task, 5);
}

TEST_F(FleetTest, AnAnswerThatIsNotWholeIsRefused) {
  Fleet fleet(options_of({worker_command(folder_, R"(sed -u 's/"journal":"..../"journal":"AAAA/')")}), describe_host());
  ASSERT_EQ(next(fleet)->kind, Kind::joined);
  fleet.give(0, copy_task(5, "simple"), {});  // judged without timing: it is the incumbent's own code
  const auto left = next(fleet, 120);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->why, WorkerEnd::bad_answer);
  EXPECT_EQ(left->task, 5);
  EXPECT_TRUE(fleet.is_out(0));
}

}  // namespace
}  // namespace apo
