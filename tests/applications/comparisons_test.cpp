// tests/applications/comparisons_test.cpp - when a comparison counts as reproduced.
#include "harness/applications/comparisons.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

ProgramComparison judged(Verdict verdict, double effect) {
  return {.judgement = Judgement{
              .verdict = verdict, .effect = effect, .lower = effect - 0.02, .upper = effect + 0.02, .rounds = 14}};
}

ProgramComparison failed(FailedSide side, Outcome outcome) {
  return {.outcome = outcome, .failed = side, .judgement = Judgement{.verdict = Verdict::reverted}};
}

ProgramComparison gated(GateVerdict verdict) {
  return {.judgement = Judgement{}, .gate = verdict};
}

TEST(ReproducedComparison, TheVerdictHasToBeTheSameAndTheIntervalsToOverlap) {
  const ProgramComparison original = judged(Verdict::accepted, 0.1);
  EXPECT_TRUE(reproduction_of(original, judged(Verdict::accepted, 0.13)).reproduced);
  EXPECT_FALSE(reproduction_of(original, judged(Verdict::accepted, 0.15)).reproduced);
  EXPECT_FALSE(reproduction_of(original, judged(Verdict::inconclusive, 0.1)).reproduced);
}

TEST(ReproducedComparison, AFailureHasToBeTheSameOneOfTheSameSide) {
  const ProgramComparison original = failed(FailedSide::b, Outcome::timed_out);
  EXPECT_TRUE(reproduction_of(original, failed(FailedSide::b, Outcome::timed_out)).reproduced);
  EXPECT_FALSE(reproduction_of(original, failed(FailedSide::b, Outcome::faulted)).reproduced);
  EXPECT_FALSE(reproduction_of(original, failed(FailedSide::both, Outcome::timed_out)).reproduced);
}

TEST(ReproducedComparison, OfAGateTheVerdictIsEnough) {
  EXPECT_TRUE(reproduction_of(gated(GateVerdict::passed), gated(GateVerdict::passed)).reproduced);
  EXPECT_FALSE(reproduction_of(gated(GateVerdict::passed), gated(GateVerdict::undecided)).reproduced);
}

}  // namespace
}  // namespace apo
