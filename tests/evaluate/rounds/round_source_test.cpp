// tests/evaluate/rounds/round_source_test.cpp - a round that fails is taken again, and nobody is blamed for one
// failure.
#include "harness/evaluate/rounds/round_source.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/core/system/lock_file.h"
#include "harness/evaluate/judge_pair.h"
#include "tests/evaluate/judge/rounds.h"
#include "tests/processes.h"

namespace apo {
namespace {

// What happens to each attempt at a round; nothing is a round that was measured.
struct Attempts {
  std::vector<std::optional<Failure>> failures;
  std::set<int> indices;

  Result<Round> take() {
    return retry_round(
        [this](RoundStage stage, int index) -> Result<Round> {
          const std::size_t attempt = indices.size();
          indices.insert(index);
          const std::optional<Failure> failure = failures.at(attempt);
          return failure ? Result<Round>(*failure) : Round{.stage = stage, .index = index};
        },
        RoundStage::search, 3);
  }
};

Failure failed(Outcome outcome, int slot) {
  return {.outcome = outcome, .evidence = "y[3] is nan", .slot = slot};
}

TEST(RetryRound, ARoundThatSucceedsIsTakenOnce) {
  Attempts attempts{.failures = {std::nullopt}, .indices = {}};
  EXPECT_EQ(attempts.take()->index, 3);
  EXPECT_EQ(attempts.indices, std::set<int>{3});
}

TEST(RetryRound, AnArmThatFailsTwiceIsBlamed) {
  for (const int slot : {0, 1}) {
    Attempts attempts{.failures = {failed(Outcome::incorrect, slot), failed(Outcome::faulted, slot)}, .indices = {}};
    const auto round = attempts.take();
    ASSERT_FALSE(round);
    EXPECT_EQ(round.failure().slot, slot);
    EXPECT_EQ(round.failure().outcome, slot == 1 ? Outcome::incorrect : Outcome::faulted);
    EXPECT_EQ(attempts.indices.size(), 2u) << "the second look has coins of its own";
  }
}

TEST(RetryRound, AFailureThatDoesNotComeBackBlamesNobodyAndGivesNoRound) {
  for (const auto& failure : {failed(Outcome::faulted, 1), failed(Outcome::incorrect, 0)}) {
    Attempts attempts{.failures = {failure, std::nullopt}, .indices = {}};
    const auto round = attempts.take();
    ASSERT_FALSE(round);
    EXPECT_EQ(round.failure().slot, -1);
    EXPECT_EQ(round.failure().evidence, "y[3] is nan; the round that was taken again did not fail");
  }
}

TEST(RetryRound, AWrongOutputOfTheCandidateIsProofUnlessTheIncumbentFailsToo) {
  const Failure wrong = failed(Outcome::incorrect, 1);
  const std::pair<std::vector<std::optional<Failure>>, int> cases[] = {{{wrong, std::nullopt}, 1},
                                                                       {{wrong, failed(Outcome::faulted, -1)}, 1},
                                                                       {{failed(Outcome::unstable_clock, 1), wrong}, 1},
                                                                       {{wrong, failed(Outcome::incorrect, 0)}, -1},
                                                                       {{failed(Outcome::faulted, 0), wrong}, -1}};
  for (const auto& [failures, slot] : cases) {
    Attempts attempts{.failures = failures, .indices = {}};
    const auto round = attempts.take();
    ASSERT_FALSE(round);
    EXPECT_EQ(round.failure().slot, slot) << to_string(failures.front()->outcome);
    EXPECT_EQ(attempts.indices.size(), 2u);
  }
}

TEST(RetryRound, FailuresOfDifferentArmsOrOfNoneBlameNobody) {
  for (const auto& [first, second] : std::vector<std::pair<int, int>>{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {-1, -1}}) {
    Attempts attempts{.failures = {failed(Outcome::timed_out, first), failed(Outcome::timed_out, second)},
                      .indices = {}};
    EXPECT_EQ(attempts.take().failure().slot, -1) << first << " " << second;
  }
}

TEST(RetryRound, AnUnstableClockIsMeasuredAgainAndNeverTheCandidates) {
  Attempts once{.failures = {failed(Outcome::unstable_clock, 1), std::nullopt}, .indices = {}};
  const auto round = once.take();
  ASSERT_TRUE(round);
  EXPECT_EQ(round->index, 3);
  Attempts twice{.failures = {failed(Outcome::unstable_clock, 1), failed(Outcome::unstable_clock, 1)}, .indices = {}};
  EXPECT_EQ(twice.take().failure().slot, -1);
  Attempts mixed{.failures = {failed(Outcome::unstable_clock, 1), failed(Outcome::faulted, 1)}, .indices = {}};
  EXPECT_EQ(mixed.take().failure().slot, -1) << "one look at the fault";
}

TEST(RoundsInTurns, ARoundThatWaitsForItsTurnRecordsTheWaitApartFromItsTime) {
  const TemporaryFolder folder;
  const std::filesystem::path locks = folder.path() / "locks";
  DeviceTurns others(locks, "host");
  std::optional<DeviceTurns::Turn> theirs(others.take({}));
  SilentObserver observer;
  const RoundSource source = in_turns(
      std::make_shared<DeviceTurns>(locks, "host"),
      [](RoundStage stage, int index) -> Result<Round> {
        return Round{.stage = stage, .index = index, .seconds = 0.5};
      },
      observer);
  const std::jthread ending([&] {
    const LockFile file(locks / "turn-host.lock");
    EXPECT_TRUE(testing::comes_about([&] { return file.holder_of({.first = 0}) >= 0; })) << "nobody waits";
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // a wait that is recorded
    theirs.reset();
  });
  double waited_s = 0;
  const Round first = source(RoundStage::search, 0, waited_s).value();
  EXPECT_GE(first.environment.waited_for_turn_s.value_or(0), 0.05);
  EXPECT_EQ(waited_s, first.environment.waited_for_turn_s);
  EXPECT_EQ(first.seconds, 0.5);
}

TEST(JudgedPair, WhatAVerdictOfMoreThanAMinuteTakesIsSaidOnceBehindTheFirstRound) {
  struct Said : SilentObserver {
    std::vector<std::string> lines;
    void say(const std::string& line) override { lines.push_back(line); }
  };
  const auto said_of_rounds_of = [](double round_s) {
    Said observer;
    int rounds = 0;
    const RoundSource source = [&](RoundStage stage, int index, double&) -> Result<Round> {
      EXPECT_EQ(observer.lines.size(), rounds++ > 0 && round_s > 3 ? 1U : 0U);
      Round round = make_round({.stage = stage, .index = index}, {std::log(3.0)});
      round.seconds = round_s + 100;
      round.environment.start_wait_s = 100;  // looks at outputs among them
      return round;
    };
    JudgePreset preset = standard_preset();
    preset.pause_s = 0;
    const PairOutcome outcome = judge_pair({.source = source,
                                            .what = "a/b against a/a",
                                            .plan = {.preset = preset, .cache_policy = CachePolicy::warm},
                                            .observer = observer,
                                            .on_round = [](const Round&) {}});
    EXPECT_EQ(outcome.judgement.verdict, Verdict::accepted) << outcome.judgement.sentence;
    return observer.lines;
  };
  EXPECT_EQ(said_of_rounds_of(5),
            std::vector<std::string>{"a/b against a/a: a round takes 5.0 s, and a verdict 14 + 14 of them: "
                                     "2 min 20 s at least"});
  EXPECT_TRUE(said_of_rounds_of(0.5).empty());
}

TEST(JudgedPair, WaitsForOtherProcessesAreNoneOfItsSeconds) {
  SilentObserver observer;
  const RoundSource source = [](RoundStage, int, double& waited_s) -> Result<Round> {
    waited_s = 1e6;
    return failed(Outcome::faulted, -1);
  };
  EXPECT_LT(judge_pair({.source = source,
                        .what = "a/b against a/a",
                        .plan = {.preset = standard_preset(), .cache_policy = CachePolicy::warm},
                        .observer = observer,
                        .on_round = {}})
                .seconds,
            0);
}

}  // namespace
}  // namespace apo
