// tests/applications/replay_application_test.cpp - when a judgement by an application counts as reproduced.
#include "harness/applications/replay_application.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

ApplicationComparison judged(Verdict verdict, double effect) {
  ApplicationComparison one{.verdict = verdict};
  one.speeds = {{.effect = effect, .lower = effect - 0.02, .upper = effect + 0.02}};
  return one;
}

ApplicationComparison failed(bool in_a, Outcome outcome) {
  return {.outcome = outcome, .failed_a = in_a, .failed_b = true, .verdict = Verdict::reverted};
}

TEST(ApplicationReproduction, TheVerdictHasToBeTheSameAndTheIntervalsToOverlap) {
  const ApplicationComparison original = judged(Verdict::accepted, 0.1);
  EXPECT_TRUE(reproduction_of(original, judged(Verdict::accepted, 0.13)).reproduced);
  EXPECT_FALSE(reproduction_of(original, judged(Verdict::accepted, 0.15)).reproduced);
  EXPECT_FALSE(reproduction_of(original, judged(Verdict::inconclusive, 0.1)).reproduced);
}

TEST(ApplicationReproduction, AFailureHasToBeTheSameOneOfTheSameSide) {
  const ApplicationComparison original = failed(false, Outcome::timed_out);
  EXPECT_TRUE(reproduction_of(original, failed(false, Outcome::timed_out)).reproduced);
  EXPECT_FALSE(reproduction_of(original, failed(false, Outcome::faulted)).reproduced);
  EXPECT_FALSE(reproduction_of(original, failed(true, Outcome::timed_out)).reproduced);
}

}  // namespace
}  // namespace apo
