// tests/cli/scale/workers_test.cpp - campaigns whose candidates are judged on workers. Nothing here depends on which
// verdict the timings give.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "journal/journal.h"
#include "tests/cli/workplace.h"
#include "tests/processes.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Words campaign(int candidates, const Words& more) {
  Words words = {
      "run",         "copy",    "--target", "host",         "--workload", "n4k",          "--baseline",
      "copy/simple", "--judge", "standard", "--iterations", "1",          "--candidates", std::to_string(candidates)};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A sentinel may stop a campaign, or take out its workers, on a machine that is too restless to judge on.
bool too_restless(const Ran& ran) {
  return ran.exit_code == 2 && ran.err.find("sentinel failed") != std::string::npos;
}

void expect_whole(const Workplace& place) {
  Journal journal = Journal::open(place.path(".apo/journal.db"), Access::read_only);
  EXPECT_EQ(journal.check_integrity(), Words());
  EXPECT_EQ(journal.check_invariants(), Words());
}

std::vector<WorkerRow> workers_of(const Workplace& place) {
  return Journal::open(place.path(".apo/journal.db"), Access::read_only).workers(1);
}

class Workers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (usable_cpus().size() < 2) {
      GTEST_SKIP() << "two workers on one CPU would disturb each other";
    }
  }
  Workplace place_;
};

TEST_F(Workers, JudgeACampaignEachOnItsDeviceAndAnAcceptanceOnAnotherOneToo) {
  const Ran ran = place_.apo(campaign(2, {"--workers", "local:2", "--replicate", "2", "--json"}), 280);
  if (too_restless(ran)) {
    GTEST_SKIP() << ran.err;
  }
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  expect_whole(place_);
  Journal journal = Journal::open(place_.path(".apo/journal.db"), Access::read_only);
  const Json summary = only_document(ran);
  for (const Json& one : summary["iterations"][0]["experiments"]) {
    const std::int64_t id = one["id"];
    ASSERT_TRUE(journal.worker_of(id));
    EXPECT_FALSE(one["judgement"].is_null());
    if (one["judgement"]["verdict"] == "accepted" || one["judgement"]["reason"] == "not_replicated") {
      ASSERT_EQ(journal.replays_of(id).size(), 1U);
      EXPECT_NE(journal.worker_of(journal.replays_of(id)[0].experiment)->device, journal.worker_of(id)->device);
    }
  }
  for (const WorkerRow& worker : workers_of(place_)) {
    EXPECT_EQ(worker.end, WorkerEnd::dismissed) << worker.note;
  }
}

TEST_F(Workers, ThatCannotBeStartedAreNamedAndTheCampaignGoesOnLaterWithOnesThatCan) {
  const Ran ran = place_.apo(campaign(1, {"--workers", "exit 4"}), 280);
  if (too_restless(ran)) {
    GTEST_SKIP() << ran.err;
  }
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("no worker is left: worker 1: not_started: exit code 4"), std::string::npos) << ran.err;
  const Ran again = place_.apo(campaign(1, {"--workers", "local:1", "--workers", "echo gone >&2; exit 3"}), 280);
  EXPECT_NE(again.err.find("resuming campaign 1"), std::string::npos) << again.err;
  if (too_restless(again)) {
    GTEST_SKIP() << again.err;
  }
  ASSERT_EQ(again.exit_code, 0) << again.err;
  expect_whole(place_);
  const Json campaign = only_document(place_.apo({"list", "--workers", "--json"}))["campaigns"][0];
  std::map<std::string, Json> by_state;
  for (const Json& worker : campaign["workers"]) {
    by_state[worker["state"]] = worker;
  }
  EXPECT_NE(by_state["dismissed"]["device"].get<std::string>().find(" cpus "), std::string::npos) << campaign;
  EXPECT_EQ(by_state["not_started"]["note"], "exit code 3: gone") << campaign;
  EXPECT_TRUE(campaign["run_by"].is_null());
  const Ran table = place_.apo({"list", "--workers"});
  EXPECT_NE(table.out.find("not_started"), std::string::npos) << table.out;
}

TEST_F(Workers, NeedToBeAsManyAsHaveToAgree) {
  const Ran ran = place_.apo(campaign(1, {"--workers", "local:1", "--replicate", "2"}));
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("--replicate 2 needs as many workers"), std::string::npos) << ran.err;
}

// Processes of the program that have this word in their environment's folder for temporary files.
std::vector<int> serving(const std::string& folder) {
  std::vector<int> found;
  for (const int pid : testing::all_processes()) {
    if (testing::process_file(pid, "cmdline").find("--serve") != std::string::npos &&
        testing::process_file(pid, "environ").find(folder) != std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

TEST_F(Workers, EndWithTheirDriver) {
  const std::string folder = place_.path("pid").parent_path().string();
  pid_t driver = -1;
  std::jthread run([&] {
    place_.program({"/bin/sh", "-c",
                    "echo $$ >pid; exec apo run copy --target host --workload n4k --judge standard "
                    "--workers local:2"});
  });
  ASSERT_TRUE(testing::comes_about([&] { return serving(folder).size() == 2; }));
  std::ifstream(place_.path("pid")) >> driver;
  ASSERT_GT(driver, 1);
  kill(driver, SIGKILL);
  EXPECT_TRUE(testing::comes_about([&] { return serving(folder).empty(); }));
}

// The script says what it needs, and why it is skipped.
void run_script(const std::string& name, const Workplace& place) {
  const Ran ran = place.program({"bash", std::string(APO_SOURCE_FOLDER "/tests/cli/scale/") + name, APO_PROGRAM,
                                 APO_BINARY_FOLDER "/test-packages/" + name, place.path("work").string()},
                                560);
  constexpr int kSkipped = 77;
  if (ran.exit_code == kSkipped) {
    GTEST_SKIP() << ran.out;
  }
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST(PlacedBy, SlurmWhoseJobsAreKilledDrainedAndCancelled) {
  const Workplace place;
  run_script("slurm_workers.sh", place);
}

TEST(PlacedBy, SshWhoseWorkerAndDriverAreKilled) {
  const Workplace place;
  run_script("ssh_workers.sh", place);
}

}  // namespace
}  // namespace apo
