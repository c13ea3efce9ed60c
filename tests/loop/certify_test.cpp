// tests/loop/certify_test.cpp - what a campaign leaves standing after an alarm.
#include "harness/loop/certify.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

Experiment judged(std::int64_t id, const std::string& candidate, Verdict verdict) {
  Experiment experiment{.id = id};
  experiment.candidate = {.variant = candidate, .settings = {}};
  experiment.judgement = Judgement{.verdict = verdict};
  return experiment;
}

TEST(StandingIncumbent, IsTheLastAcceptThatNoAlarmHasWithdrawn) {
  const Configuration baseline{.variant = "f/simple", .settings = {}};
  const std::vector<Experiment> experiments = {judged(1, "f/a", Verdict::accepted), judged(2, "f/b", Verdict::reverted),
                                               judged(3, "f/c", Verdict::accepted)};
  EXPECT_EQ(standing_incumbent(experiments, {}, baseline).variant, "f/c");
  EXPECT_EQ(standing_incumbent(experiments, {3}, baseline).variant, "f/a");
  EXPECT_EQ(standing_incumbent(experiments, {1, 3}, baseline).variant, "f/simple");
  EXPECT_EQ(standing_incumbent({}, {}, baseline).variant, "f/simple");
}

}  // namespace
}  // namespace apo
