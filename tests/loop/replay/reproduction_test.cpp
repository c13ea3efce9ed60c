// tests/loop/replay/reproduction_test.cpp - when a second measurement counts as the same result.
#include <gtest/gtest.h>

#include <limits>

#include "harness/loop/replay/replay.h"

namespace apo {
namespace {

Experiment timed(Verdict verdict, double lower, double effect, double upper) {
  Experiment experiment;
  experiment.judgement = Judgement{.verdict = verdict,
                                   .reason = verdict == Verdict::accepted ? Reason::faster : Reason::no_gain,
                                   .effect = effect,
                                   .lower = lower,
                                   .upper = upper,
                                   .rounds = 14};
  return experiment;
}

Experiment stopped(Outcome outcome) {
  Experiment experiment;
  experiment.outcome = outcome;
  experiment.judgement =
      Judgement{.verdict = Verdict::reverted, .reason = Reason::gate_failed, .sentence = "Not timed: because."};
  return experiment;
}

bool reproduced(const Experiment& original, const Experiment& again) {
  const Reproduction reproduction = reproduction_of(original, again);
  EXPECT_FALSE(reproduction.why.empty());
  return reproduction.reproduced;
}

TEST(Reproduction, SameVerdictAndOverlappingIntervals) {
  const Experiment original = timed(Verdict::accepted, 0.10, 0.12, 0.14);
  EXPECT_TRUE(reproduced(original, timed(Verdict::accepted, 0.11, 0.12, 0.13)));
  EXPECT_TRUE(reproduced(original, timed(Verdict::accepted, 0.06, 0.08, 0.10)));
  EXPECT_TRUE(reproduced(original, timed(Verdict::accepted, 0.14, 0.20, 0.26)));
}

TEST(Reproduction, IntervalsThatDoNotMeetAreAnotherResult) {
  const Experiment original = timed(Verdict::accepted, 0.10, 0.12, 0.14);
  EXPECT_FALSE(reproduced(original, timed(Verdict::accepted, 0.15, 0.16, 0.17)));
  EXPECT_FALSE(reproduced(original, timed(Verdict::accepted, 0.05, 0.06, 0.09)));
}

TEST(Reproduction, BothResultsAreRatiosAsInTheTable) {
  const Experiment original = timed(Verdict::accepted, 0.10, 0.12, 0.14);
  EXPECT_EQ(reproduction_of(original, timed(Verdict::accepted, 0.11, 0.12, 0.13)).why,
            "the same verdict, and 1.127x [1.116x, 1.139x] agrees with 1.13x [1.11x, 1.15x]");
}

TEST(Reproduction, AnotherVerdictIsAnotherResultWhateverTheIntervals) {
  const Experiment original = timed(Verdict::accepted, 0.0, 0.01, 0.02);
  EXPECT_FALSE(reproduced(original, timed(Verdict::reverted, 0.0, 0.01, 0.02)));
  EXPECT_FALSE(reproduced(original, timed(Verdict::inconclusive, 0.0, 0.01, 0.02)));
}

TEST(Reproduction, ABoundThatIsNoNumberReproducesNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Experiment original = timed(Verdict::accepted, 0.10, 0.12, 0.14);
  EXPECT_FALSE(reproduced(original, timed(Verdict::accepted, nan, 0.12, nan)));
  EXPECT_FALSE(reproduced(timed(Verdict::accepted, nan, 0.12, nan), original));
}

TEST(Reproduction, WhatWasNotTimedNeedsTheSameOutcome) {
  EXPECT_TRUE(reproduced(stopped(Outcome::incorrect), stopped(Outcome::incorrect)));
  EXPECT_FALSE(reproduced(stopped(Outcome::incorrect), stopped(Outcome::faulted)));
}

TEST(Reproduction, TimedOnceAndStoppedOnceIsNoReproductionThoughBothAreReverted) {
  const Experiment slower = timed(Verdict::reverted, -0.2, -0.1, 0);
  EXPECT_FALSE(reproduced(slower, stopped(Outcome::incorrect)));
  EXPECT_FALSE(reproduced(stopped(Outcome::incorrect), slower));
}

TEST(Reproduction, AnotherMachineIsDescribedFactByFact) {
  Machine then{.id = "a", .model = "NVIDIA H200", .driver = "570", .facts = {{"ecc", "on"}}};
  Machine now = then;
  EXPECT_TRUE(machine_differences(then, now).empty());
  now.driver = "580";
  now.facts = {{"ecc", "off"}, {"mig", "off"}};
  EXPECT_EQ(
      machine_differences(then, now),
      (std::vector<std::string>{"driver: 570 then, 580 now", "ecc: on then, off now", "mig: none then, off now"}));
}

TEST(Reproduction, OtherMachineCodeIsSaid) {
  Experiment then;
  then.candidate_build = {.key = "k", .code_hash = "1", .toolchain = {.compiler = "g++", .version = "12"}};
  Experiment now = then;
  EXPECT_TRUE(build_differences(then, now).empty());
  now.candidate_build.code_hash = "2";
  now.candidate_build.toolchain.version = "13";
  EXPECT_EQ(build_differences(then, now), (std::vector<std::string>{"compiler of the candidate: 12 then, 13 now",
                                                                    "machine code of the candidate: not what it was"}));
}

}  // namespace
}  // namespace apo
