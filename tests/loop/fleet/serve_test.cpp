// tests/loop/fleet/serve_test.cpp - a worker that serves: what it judges, what it asks for, and how it ends.
#include "harness/loop/fleet/serve.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "harness/core/error.h"
#include "harness/loop/fleet/answer_journal.h"
#include "tests/loop/fleet/served_worker.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using namespace apo::testing;

class Serve : public ::testing::Test {
 protected:
  TemporaryFolder folder_{"apo-serve-test"};
  ServedWorker worker_{worker_command(folder_)};

  Hello hello() {
    const auto message = worker_.next({"hello"});
    return message ? hello_of(*message) : Hello();
  }
};

TEST_F(Serve, SaysItsDeviceAndSendsHeartbeats) {
  const Hello hello = this->hello();
  EXPECT_EQ(hello.program.protocol, kFleetProtocol);
  EXPECT_EQ(hello.machine.target, Target::host);
  EXPECT_NE(hello.device.find(" cpus "), std::string::npos) << hello.device;
  EXPECT_TRUE(worker_.next({"heartbeat"}, 10));
  EXPECT_TRUE(worker_.next({"heartbeat"}, 10));
}

TEST_F(Serve, AnswersWithAWholeExperimentAndItsSentinel) {
  const Hello hello = this->hello();
  const Task task = copy_task(7, "memcpy");
  worker_.send(to_message(task));
  const auto answer = worker_.next({"answer", "failed"}, 120);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->at("type"), "answer") << *answer;
  EXPECT_EQ(answer->at("id"), 7);
  const std::string bytes = journal_of(*answer);
  const JudgedTask judged = judged_task(bytes);
  EXPECT_EQ(judged.machine.id, hello.machine.id);
  EXPECT_EQ(judged.experiment.candidate, task.candidate.configuration);
  EXPECT_EQ(judged.experiment.incumbent, task.incumbent.configuration);
  EXPECT_EQ(judged.experiment.index, task.index);
  EXPECT_GE(judged.experiment.rounds.size(), 6U);
  EXPECT_FALSE(judged.experiment.rounds.front().workloads.front().blocks.empty()) << "samples come along";
  EXPECT_FALSE(judged.experiment.candidate_build.code_hash.empty());
  EXPECT_EQ(judged.sentinels.size(), 1U);
  EXPECT_FALSE(judged.roofs.empty());
  EXPECT_LT(bytes.size(), std::size_t{1} << 20);
  EXPECT_THROW(judged_task(bytes.substr(0, bytes.size() / 2)), UserError);
  EXPECT_THROW(judged_task("no journal"), UserError);
}

TEST_F(Serve, AsksForASourceThatItDoesNotHaveOnce) {
  hello();
  const Variant candidate = new_variant();
  worker_.send(to_message(copy_task(1, candidate)));
  const auto need = worker_.next({"need"});
  ASSERT_TRUE(need);
  EXPECT_EQ(need_of(*need).sources, std::vector<std::string>{candidate.source_hash});
  EXPECT_EQ(need_of(*need).family, "");
  worker_.send(source_message(candidate));
  ASSERT_TRUE(worker_.next({"progress"}));
  worker_.send({{"type", "cancel"}, {"id", 1}});
  ASSERT_TRUE(worker_.next({"cancelled"}));
  worker_.send(to_message(copy_task(2, candidate)));
  const auto second = worker_.next({"need", "answer"}, 120);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->at("type"), "answer");
}

TEST_F(Serve, SaysThatASourceIsNotTheOneThatWasNamed) {
  hello();
  Variant candidate = new_variant();
  Task task = copy_task(1, candidate);
  worker_.send(to_message(task));
  ASSERT_TRUE(worker_.next({"need"}));
  candidate.source += "// changed\n";
  worker_.send(source_message(candidate));
  const auto failed = worker_.next({"failed", "answer"});
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->at("type"), "failed");
  EXPECT_EQ(failed->at("reason"), "cannot_judge");
}

TEST_F(Serve, StopsATaskAndTakesTheNext) {
  hello();
  worker_.send(to_message(copy_task(1, "memcpy")));
  ASSERT_TRUE(worker_.next({"progress"}));
  worker_.send({{"type", "cancel"}, {"id", 1}});
  const auto cancelled = worker_.next({"cancelled", "answer"}, 30);
  ASSERT_TRUE(cancelled);
  EXPECT_EQ(cancelled->at("type"), "cancelled");
  worker_.send(to_message(copy_task(2, "simple")));  // judged without timing: it is the incumbent's own code
  EXPECT_TRUE(worker_.next({"answer"}, 120));
}

TEST_F(Serve, DropsSourcesThatComeAfterTheirTaskWasCancelled) {
  hello();
  const Variant candidate = new_variant();
  worker_.send(to_message(copy_task(1, candidate)));
  ASSERT_TRUE(worker_.next({"need"}));
  worker_.send({{"type", "cancel"}, {"id", 1}});
  ASSERT_TRUE(worker_.next({"cancelled"}));
  worker_.send(source_message(candidate));
  worker_.send({{"type", "task"}, {"id", 2}});
  const auto failed = worker_.next({"failed"});
  ASSERT_TRUE(failed) << "what is no task ends nothing";
  EXPECT_EQ(failed->at("reason"), "cannot_judge");
  worker_.send(to_message(copy_task(3, "simple")));
  EXPECT_TRUE(worker_.next({"answer"}, 120));
}

TEST_F(Serve, EndsWithinTenSecondsOfTheEndOfItsInput) {
  hello();
  worker_.send(to_message(copy_task(1, "memcpy")));
  ASSERT_TRUE(worker_.next({"progress"}));
  worker_.connection().hang_up();
  EXPECT_TRUE(worker_.ends_within(10));
}

TEST_F(Serve, GivesItsTaskBackWhenItIsAskedToEnd) {
  hello();
  worker_.send(to_message(copy_task(9, "memcpy")));
  ASSERT_TRUE(worker_.next({"progress"}));
  kill(worker_.connection().pid(), SIGTERM);
  EXPECT_TRUE(worker_.next({"given_back"}, 10));
  EXPECT_TRUE(worker_.ends_within(10));
}

// A batch system asks every process of a job to end.
TEST_F(Serve, HoldsNothingAgainstACandidateWhoseCompilerWasAskedToEndWithIt) {
  const std::string compiler = (folder_.path() / "g++").string();
  const std::string pid = (folder_.path() / "pid").string();
  write_file_atomically(compiler, "#!/bin/sh\n[ \"$1\" = --version ] && exec /usr/bin/g++ --version\necho $$ >" + pid +
                                      ".new; mv " + pid + ".new " + pid + "; exec sleep 60\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  ServedWorker worker("PATH=" + folder_.path().string() + ":$PATH; " +
                      worker_command(folder_, "", folder_.path().string()));
  worker.send(to_message(copy_task(4, "memcpy")));
  while (is_absent(pid) && !worker.connection().is_over()) {
    worker.next({"nothing"}, 0.1);
  }
  kill(static_cast<pid_t>(std::stoi(read_file(pid))), SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));  // the signals of a job do not arrive at once
  kill(worker.connection().pid(), SIGTERM);
  const auto last = worker.next({"answer", "failed", "given_back"}, 10);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->at("type"), "given_back") << *last;
}

}  // namespace
}  // namespace apo
