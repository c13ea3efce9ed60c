// tests/research/transfer_test.cpp - what another workload's judgements foretell, counted by hand.
#include "harness/research/transfer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::inputs;
using fixtures::result;
using fixtures::variant;

PastResult judged_on(const std::string& workload, PastResult past) {
  past.workload = workload;
  return past;
}

// On "w", b was 1.2x of simple; `past` is known.
RecordedCampaign campaign(std::vector<PastResult> past) {
  RecordedStage stage{.inputs = inputs({variant("b", "x"), variant("c", "y")}),
                      .judged = {judged_on("w", result(9, "b", "simple", 1.2, Verdict::accepted))}};
  stage.inputs.past = std::move(past);
  return {.name = "a campaign", .journal = "a journal", .stages = {stage}};
}

TEST(Transfer, IsTheDistanceFromTheEffectOnTheOtherWorkload) {
  const std::vector<Transfer> scored =
      score_transfers({campaign({judged_on("v", result(1, "b", "simple", 1.5, Verdict::accepted))})});
  ASSERT_EQ(scored.size(), 1U);
  EXPECT_EQ(scored[0].from, "v");
  EXPECT_EQ(scored[0].to, "w");
  EXPECT_EQ(scored[0].effects, 1);
  EXPECT_NEAR(scored[0].taken_error, std::log(1.5 / 1.2), 1e-6);
  EXPECT_NEAR(scored[0].error, std::log(1.5 / 1.2), 1e-3) << "nothing else is known of b";
}

TEST(Transfer, GoesOverOtherConfigurations) {
  const std::vector<Transfer> scored =
      score_transfers({campaign({judged_on("v", result(1, "c", "simple", 2, Verdict::accepted)),
                                 judged_on("v", result(2, "c", "b", 1.25, Verdict::accepted))})});
  ASSERT_EQ(scored.size(), 1U);
  EXPECT_NEAR(scored[0].taken_error, std::log(1.6 / 1.2), 1e-4);
}

TEST(Transfer, KnowsNothingOfTheWorkloadItself) {
  const PastResult there = judged_on("v", result(1, "b", "simple", 1.5, Verdict::accepted));
  const PastResult here = judged_on("w", result(2, "b", "simple", 1.2, Verdict::accepted));
  EXPECT_DOUBLE_EQ(score_transfers({campaign({there, here})})[0].error, score_transfers({campaign({there})})[0].error);
}

// A block for each 4 sequences: 20 of them leave half of 10 multiprocessors idle, 40 do not.
TEST(Transfer, WhatSpreadsOverMoreMultiprocessorsHereGainsHere) {
  RecordedCampaign one = campaign({judged_on("v", result(1, "b", "simple", 1.5, Verdict::accepted))});
  one.stages[0].inputs.sms = 10;
  one.stages[0].inputs.blocks = [](const std::string& workload, const Variant& v, const Settings&) {
    return v.name == "simple" ? 10 : workload == "v" ? 5 : 10;
  };
  EXPECT_NEAR(score_transfers({one})[0].error, std::log(1.5 / 1.2) + 0.5 * std::log(2), 1e-3);
}

TEST(Transfer, IsOfOneClassAndOfConfigurationsThatBothHave) {
  PastResult other_class = judged_on("v", result(1, "b", "simple", 1.5, Verdict::accepted));
  other_class.workload_class = "another class";
  EXPECT_TRUE(score_transfers({campaign({other_class})}).empty());
  EXPECT_TRUE(score_transfers({campaign({judged_on("v", result(1, "c", "simple", 1.5, Verdict::accepted))})}).empty());
  EXPECT_TRUE(score_transfers({campaign({})}).empty());
}

}  // namespace
}  // namespace apo
