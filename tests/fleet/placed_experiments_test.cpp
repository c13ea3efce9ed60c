// tests/fleet/placed_experiments_test.cpp - what becomes of candidates whose workers answer, die and give back.
#include "harness/fleet/placed_experiments.h"

#include <fmt/format.h>

#include <csignal>
#include <optional>

#include "harness/core/error.h"
#include "harness/fleet/device_answers.h"
#include "harness/loop/experiment.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/experiments.h"
#include "journal/facts/replays.h"
#include "journal/facts/workers.h"
#include "tests/fleet/campaign_of_workers.h"
#include "tests/processes.h"

namespace apo {
namespace {

using Strings = std::vector<std::string>;

class Placed : public testing::CampaignOfWorkers {
 protected:
  void start(const FleetOptions& options) {
    fleet_.emplace(options, *frame_);
    state_ = make_state(*frame_);
    placed_.emplace(*frame_, *state_, *fleet_, iteration_);
  }
  void start(const Strings& acts, int most_failures = 1) { start(scripted(acts, most_failures)); }

  bool all_idle() {
    for (std::size_t i = 0; i < fleet_->size(); ++i) {
      if (!fleet_->is_idle(i)) {
        return false;
      }
    }
    return true;
  }

  // Until that is so; returns an experiment that came in meanwhile.
  template <class Condition>
  std::optional<Experiment> wait_until(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + testing::kPatience;
    while (!condition() && std::chrono::steady_clock::now() < until) {
      if (auto experiment = placed_->wait()) {
        return experiment;
      }
    }
    return std::nullopt;
  }

  std::optional<Experiment> next_experiment() {
    return wait_until([] { return false; });
  }

  static Candidate candidate(int number) {
    return {.configuration = {"copy/parallel", {{"KILOBYTES_PER_THREAD", number}}}, .techniques = {}};
  }

  void place(int number) { placed_->place(candidate(number)); }

  // In a journal that the campaign's driver might be killed over.
  void expect_whole() { EXPECT_EQ(journal_.check_invariants(), Strings()); }

  void finish() {
    placed_->stop();
    fleet_->dismiss();
    finish_iteration(journal_, iteration_);
    finish_campaign(journal_, campaign_.id, 0);
    expect_whole();
  }

  std::optional<CampaignProgress> state_;
  std::optional<PlacedExperiments> placed_;
};

TEST_F(Placed, AnAnswerIsAnExperimentOfItsWorker) {
  start({"revert"});
  place(1);
  const auto experiment = next_experiment();
  ASSERT_TRUE(experiment);
  EXPECT_EQ(experiment->judgement->verdict, Verdict::reverted);
  EXPECT_EQ(worker_of(journal_, experiment->id)->device, "w1");
  EXPECT_TRUE(placed_->is_empty());
  finish();
  EXPECT_EQ(rows().at(0).end, WorkerEnd::dismissed);
}

TEST_F(Placed, AnAnswerForAnotherCandidateIsJudgedAgainElsewhere) {
  start({"answer_other", "revert"});
  wait_until([&] { return all_idle(); });
  place(1);
  const auto experiment = next_experiment();
  ASSERT_TRUE(experiment);
  EXPECT_EQ(worker_of(journal_, experiment->id)->device, "w2");
  EXPECT_EQ(rows().at(0).end, WorkerEnd::bad_answer);
  finish();
}

TEST_F(Placed, ACandidateIsJudgedElsewhereBeforeItReturnsToAWorkerThatCouldNot) {
  start({"cannot_judge", "revert"}, 5);
  wait_until([&] { return all_idle(); });
  place(1);
  const auto experiment = next_experiment();
  ASSERT_TRUE(experiment);
  EXPECT_EQ(worker_of(journal_, experiment->id)->device, "w2");
  EXPECT_FALSE(fleet_->is_out(0)) << "the candidate may be the cause";
  finish();
}

TEST_F(Placed, ACandidateThatKillsEveryWorkerHasFailed) {
  start({"die"}, 5);
  for (const int number : {1, 2}) {  // each may take a worker three times; five in a row are too many
    place(number);
    const auto experiment = next_experiment();
    ASSERT_TRUE(experiment);
    const Experiment kept = load_experiment(journal_, experiment->id);
    EXPECT_EQ(kept.judgement->verdict, Verdict::reverted);
    EXPECT_EQ(kept.judgement->reason, Reason::gate_failed);
    EXPECT_EQ(kept.outcome, Outcome::faulted);
    ASSERT_EQ(kept.gates.size(), 1U);
    EXPECT_EQ(kept.gates[0].evidence, "3 workers were lost with it, the last one as died: exit code 9");
  }
  EXPECT_TRUE(placed_->is_empty());
  EXPECT_EQ(placed_->given_up(), "");
  EXPECT_FALSE(fleet_->is_out(0));
  finish();
}

TEST_F(Placed, ACandidateThatNoWorkerCanJudgeIsLeftOutWithTheReason) {
  start({"cannot_judge"}, 10);
  place(1);
  wait_until([&] { return placed_->is_empty(); });
  EXPECT_EQ(placed_->given_up(),
            "copy/parallel[KILOBYTES_PER_THREAD=1]: 3 workers were lost with it, the last one as cannot_judge: a "
            "header is missing");
  EXPECT_FALSE(fleet_->is_out(0));
  finish();
}

TEST_F(Placed, APreemptionIsNotTheCandidatesFault) {
  const std::string times = (folder_.path() / "times").string();
  FleetOptions options = scripted({"revert", "give_back"}, 10);
  options.commands = {fmt::format("echo >>{0}; if [ $(wc -l <{0}) -gt 3 ]; then {1}; else {2}; fi", times,
                                  options.commands[0], options.commands[1])};
  start(options);
  place(1);
  const auto experiment = next_experiment();
  ASSERT_TRUE(experiment);
  EXPECT_EQ(placed_->given_up(), "");
  EXPECT_EQ(rows().size(), 4U);
  finish();
}

TEST_F(Placed, WhatTheDriversJournalHasProvedWrongIsNotAccepted) {
  start({"accept"});
  const Experiment proof =
      store_failure(*frame_, planned_experiment(*frame_, state_->incumbent, iteration_, candidate(1), 9),
                    Outcome::incorrect, "y[3] is nan");
  place(1);
  const auto experiment = next_experiment();
  ASSERT_TRUE(experiment);
  EXPECT_EQ(experiment->judgement->verdict, Verdict::reverted);
  EXPECT_EQ(experiment->gates.back().gate, "history");
  EXPECT_NE(experiment->judgement->sentence.find(fmt::format("in experiment {}:", proof.id)), std::string::npos);
  finish();
}

TEST_F(Placed, AnAcceptanceStopsTheOthersWithoutWaitingForThem) {
  start({"accept", "stay"});
  wait_until([&] { return all_idle(); });
  place(1);
  place(2);
  const auto experiment = next_experiment();
  ASSERT_TRUE(experiment);
  EXPECT_EQ(experiment->judgement->verdict, Verdict::accepted);
  kill(pid(1), SIGSTOP);  // in the middle of a long build
  placed_->stop();
  EXPECT_TRUE(placed_->is_empty());
  EXPECT_FALSE(fleet_->is_idle(1)) << "it cannot have answered";
  kill(pid(1), SIGCONT);
  placed_.emplace(*frame_, *state_, *fleet_, iteration_);
  EXPECT_FALSE(wait_until([&] { return all_idle(); }));
  EXPECT_TRUE(placed_->can_take());
  finish();
}

TEST_F(Placed, WorkersThatFailLoseAndDoubleNothing) {
  constexpr std::size_t kCandidates = 40;
  silence_s_ = 6;  // for this long a worker hangs
  start(Strings(8, "restless"), 1000);
  std::size_t experiments = 0;
  for (int number = 0; experiments < kCandidates;) {  // one whose workers were lost three times is left out
    if (placed_->can_take() && (number < static_cast<int>(kCandidates) || placed_->is_empty())) {
      place(++number);
    } else {
      experiments += placed_->wait() ? 1U : 0U;
    }
  }
  EXPECT_EQ(experiments_of(journal_, campaign_.id).size(), kCandidates);
  EXPECT_EQ(journal_.check_integrity(), Strings());
  finish();
}

TEST_F(Placed, AnIterationEndsWithItsFirstAcceptance) {
  const auto judge = start_fleet(scripted({"accept", "stay"}, 1), *frame_);
  state_ = make_state(*frame_);
  RankedCandidates candidates({candidate(1), candidate(2), candidate(3)}, 3, [] { return std::vector<Candidate>(); });
  const std::vector<Experiment> experiments = judge->judge(*state_, iteration_, candidates);
  ASSERT_EQ(experiments.size(), 1U);
  EXPECT_EQ(state_->incumbent, experiments[0].candidate);
  judge->finish();
  for (const WorkerRow& worker : rows()) {
    EXPECT_EQ(worker.end, WorkerEnd::dismissed);
  }
  expect_whole();
}

TEST_F(Placed, AnIterationWithoutAnyJudgementFailsWithTheReason) {
  const auto judge = start_fleet(scripted({"cannot_judge"}, 10), *frame_);
  state_ = make_state(*frame_);
  RankedCandidates candidates({candidate(1)}, 3, [] { return std::vector<Candidate>(); });
  EXPECT_THROW(judge->judge(*state_, iteration_, candidates), EnvironmentError);
}

TEST_F(Placed, DismissedWorkersHaveEnded) {
  start({"stay"});
  place(1);
  wait_until([&] { return fleet_->hello(0) != nullptr && !fleet_->is_idle(0); });
  const pid_t process = pid(0);
  finish();
  EXPECT_NE(kill(process, 0), 0);
}

}  // namespace
}  // namespace apo
