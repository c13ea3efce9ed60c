// tests/fleet/fleet_test.cpp - workers that join, are refused, say the wrong thing, die, hang and are started
// again. Each is a script of the shell.
#include "harness/fleet/fleet.h"

#include <fmt/format.h>

#include <csignal>
#include <ctime>
#include <functional>

#include "tests/fleet/campaign_of_workers.h"
#include "tests/processes.h"

namespace apo {
namespace {

using Kind = FleetEvent::Kind;

const ProgramIdentity kProgram = {.version = "scripted", .build = "b", .schema = 1, .rule = "r"};

class FleetTest : public testing::CampaignOfWorkers {
 protected:
  Hello hello() const {
    return {.program = kProgram, .machine = workspace_.machine(), .device = "device", .time_s = std::time(nullptr)};
  }

  // A worker that says this hello, and goes on as the shell's commands say.
  std::string worker(const std::string& script, const Hello& hello) {
    write_file_atomically(folder_.path() / "hello", to_message(hello).dump() + "\n");
    return fmt::format("cd {}; cat hello; {}; while read -r more; do :; done", folder_.path().string(), script);
  }

  void start_all(FleetOptions options) {
    options.program = kProgram;
    options.stuck_s = 30;
    options.restart_after_s = 0.1;
    fleet_.emplace(options, *frame_);
  }
  void start(const std::string& script) { start_all({.commands = {worker(script, hello())}}); }

  std::optional<FleetEvent> next(std::chrono::duration<double> patience = testing::kPatience) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < patience) {
      if (auto event = fleet_->next(std::chrono::milliseconds(100))) {
        return event;
      }
    }
    return std::nullopt;
  }

  // A worker that has joined, and has task 5.
  void give_task(const std::string& script, double silence_s = 600) {
    start_all({.commands = {worker(script, hello())}, .silence_s = silence_s});
    ASSERT_EQ(next()->kind, Kind::joined);
    const TaskSide side = {campaign_.baseline, workspace_.catalogue().get(campaign_.baseline.variant).source_hash};
    fleet_->give(
        0, {.id = 5, .policy = campaign_.policy, .candidate = side, .incumbent = side, .prediction = {}, .floor = {}});
    EXPECT_FALSE(fleet_->is_idle(0));
  }

  // The worker ends for this reason, and its row says so.
  FleetEvent expect_left(WorkerEnd why, bool out) {
    const auto left = next();
    EXPECT_TRUE(left);
    if (!left) {
      return {};
    }
    EXPECT_EQ(left->kind, Kind::left);
    EXPECT_EQ(left->why, why) << left->note;
    EXPECT_FALSE(left->note.empty());
    EXPECT_EQ(fleet_->is_out(0), out);
    EXPECT_EQ(rows().back().end, why);
    return *left;
  }
};

TEST(FleetClock, AHelloMayHaveWaitedSinceItsWorkerStarted) {
  EXPECT_EQ(clock_error_s(1000, 1000, 1600), 0) << "read ten minutes later";
  EXPECT_EQ(clock_error_s(1600, 1000, 1600), 0);
  EXPECT_EQ(clock_error_s(930, 1000, 1600), 70) << "older than its worker";
  EXPECT_EQ(clock_error_s(1670, 1000, 1600), 70) << "of the future";
}

TEST_F(FleetTest, AWorkerOfAnotherProgramClockOrDeviceIsRefusedAndNotStartedAgain) {
  const struct {
    const char* what;
    std::function<void(Hello&)> change;
    WorkerEnd why;
  } refusals[] = {
      {"protocol", [](Hello& hello) { hello.program.protocol = 99; }, WorkerEnd::wrong_version},
      {"rule", [](Hello& hello) { hello.program.rule = "another"; }, WorkerEnd::wrong_version},
      {"build of the same version", [](Hello& hello) { hello.program.build = "another"; }, WorkerEnd::wrong_version},
      {"clock", [](Hello& hello) { hello.time_s = 1'700'000'000; }, WorkerEnd::clock_off},
      {"model", [](Hello& hello) { hello.machine.model = "another CPU"; }, WorkerEnd::wrong_device},
      {"number of cores", [](Hello& hello) { ++hello.machine.cores; }, WorkerEnd::wrong_device},
  };
  for (const auto& refusal : refusals) {
    SCOPED_TRACE(refusal.what);
    Hello changed = hello();
    refusal.change(changed);
    start_all({.commands = {worker("true", changed)}});
    expect_left(refusal.why, true);
  }
}

TEST_F(FleetTest, ADeviceIsHeldByOneWorker) {
  const std::string command = worker("true", hello());
  start_all({.commands = {command, command}});
  ASSERT_EQ(next()->kind, Kind::joined);
  EXPECT_EQ(next()->why, WorkerEnd::device_taken);
}

TEST_F(FleetTest, ACommandThatIsNoWorkerIsTriedAFewTimes) {
  start_all({.commands = {"echo welcome; echo no such host >&2; exit 7"}, .most_failures = 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(expect_left(WorkerEnd::not_started, i == 2).note, "exit code 7: no such host");
  }
  EXPECT_EQ(rows().size(), 3U);
}

TEST_F(FleetTest, AWorkerThatBreaksTheProtocolIsNotStartedAgain) {
  const struct {
    const char* what;
    bool has_task;
    const char* script;
  } breaches[] = {
      {"a second hello", false, "cat hello"},
      {"an answer before any task", false, R"(echo '{"type":"answer","id":0,"sha256":"","journal":""}')"},
      {"an answer to another task", true, R"(echo '{"type":"answer","id":6,"sha256":"","journal":""}')"},
      {"an answer that is not whole", true, R"(echo '{"type":"answer","id":5,"sha256":"0","journal":"AAAA"}')"},
      {"a task that stops unasked", true, R"(echo '{"type":"cancelled","id":5}')"},
  };
  for (const auto& breach : breaches) {
    SCOPED_TRACE(breach.what);
    if (breach.has_task) {
      give_task(fmt::format("read task; {}", breach.script));
    } else {
      start(breach.script);
      ASSERT_EQ(next()->kind, Kind::joined);
    }
    EXPECT_EQ(expect_left(WorkerEnd::bad_answer, true).task, breach.has_task ? 5 : 0);
  }
}

TEST_F(FleetTest, AWorkerIsIdleWhenItHasStoppedItsCancelledTask) {
  give_task(R"(read task; read cancel; echo '{"type":"progress","what":"late"}'; echo '{"type":"cancelled","id":5}')");
  fleet_->cancel(0);
  EXPECT_FALSE(fleet_->is_idle(0)) << "it has not stopped yet";
  EXPECT_EQ(next()->kind, Kind::cancelled);
  EXPECT_TRUE(fleet_->is_idle(0));
}

TEST_F(FleetTest, AKilledWorkerLosesItsTaskAndIsStartedAgain) {
  give_task("true");
  kill(fleet_->pid(0), SIGKILL);
  const FleetEvent left = expect_left(WorkerEnd::died, false);
  EXPECT_EQ(left.task, 5);
  EXPECT_NE(left.note.find("SIGKILL"), std::string::npos) << left.note;
  EXPECT_EQ(next()->kind, Kind::joined);
}

TEST_F(FleetTest, AWorkerWithoutHeartbeatsIsGivenUp) {
  give_task("true", 3);  // a shell has said hello by then
  EXPECT_EQ(expect_left(WorkerEnd::silent, false).task, 5);
}

TEST_F(FleetTest, AHeartbeatWithoutProgressForTooLongIsSilence) {
  give_task(R"(read task; echo '{"type":"heartbeat","quiet_s":12}'; echo '{"type":"heartbeat","quiet_s":31}')");
  const FleetEvent left = expect_left(WorkerEnd::silent, false);
  EXPECT_NE(left.note.find("no progress"), std::string::npos) << left.note;
}

TEST_F(FleetTest, APreemptedWorkerGivesItsTaskBackAndIsStartedAgain) {
  give_task(R"(read task; echo '{"type":"given_back","what":"asked to end"}')");
  EXPECT_EQ(expect_left(WorkerEnd::gave_back, false).task, 5);
}

TEST_F(FleetTest, AWorkerThatCannotJudgeOneCandidateIsStartedAgain) {
  give_task(R"(read task; echo '{"type":"failed","reason":"cannot_judge","what":"a header is missing"}')");
  EXPECT_EQ(expect_left(WorkerEnd::cannot_judge, false).task, 5);
}

TEST_F(FleetTest, AWorkerWhoseSentinelFailedIsNotStartedAgain) {
  give_task(R"(read task; echo '{"type":"failed","reason":"sentinel","what":"identical code differs"}')");
  EXPECT_EQ(expect_left(WorkerEnd::sentinel, true).task, 5);
}

TEST_F(FleetTest, AWorkerThatClosesItsOutputAndLivesOnIsKilled) {
  start("exec >&-; sleep 1000");
  ASSERT_EQ(next()->kind, Kind::joined);
  const pid_t pid = fleet_->pid(0);
  expect_left(WorkerEnd::died, false);
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(FleetTest, DismissedWorkersAreGone) {
  start("true");
  ASSERT_EQ(next()->kind, Kind::joined);
  const pid_t pid = fleet_->pid(0);
  fleet_->dismiss();
  EXPECT_NE(kill(pid, 0), 0);
  EXPECT_TRUE(fleet_->is_out(0));
  EXPECT_FALSE(next(std::chrono::milliseconds(100)));
  EXPECT_EQ(rows().at(0).end, WorkerEnd::dismissed);
}

}  // namespace
}  // namespace apo
