// tests/research/baseline_test.cpp - the score of knowing nothing, counted by hand.
#include "harness/research/baseline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::inputs;
using fixtures::result;

// One stage, in which each of these effects was judged of a variant of its own; the first one was accepted.
RecordedCampaign campaign(const std::string& journal, const std::vector<double>& effects) {
  RecordedStage stage{.inputs = inputs({}), .judged = {}};
  for (const double effect : effects) {
    const std::string name = "v" + std::to_string(stage.judged.size());
    stage.judged.push_back(
        result(1, name, "simple", std::exp(effect), stage.judged.empty() ? Verdict::accepted : Verdict::reverted));
    stage.judged.back().seconds = 10;
  }
  return {.name = journal, .journal = journal, .stages = {stage}};
}

TEST(Baseline, OneOfFiveIsFoundAfterThreeInARandomOrder) {
  const Baseline score = score_baseline({campaign("a", {0.5, 0, 0, 0, 0})}, {});
  EXPECT_DOUBLE_EQ(score.until_final, 3);
  EXPECT_DOUBLE_EQ(score.seconds_until_final, 30);
}

TEST(Baseline, TwoSettingsOfTheFinalVariantAreFoundSooner) {
  RecordedCampaign one = campaign("a", {0.5, 0, 0, 0, 0});
  one.stages[0].judged[4].candidate = {.variant = "toy/v0", .settings = {{"N", 2}}};
  EXPECT_DOUBLE_EQ(score_baseline({one}, {}).until_final, 2);
}

TEST(Baseline, TheBandIsThatOfTheOtherJournals) {
  const Baseline score = score_baseline(
      {campaign("others", {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}), campaign("a", {0.3, 0.95})}, {});
  // Of the eleven effects 0.1 and 0.9 are the percentiles; 0.95 lies outside by 0.05. Of 0.3 and 0.95 they are 0.365
  // and 0.885, and five of the eleven lie between.
  double penalties = 2 * 0.8 + 10 * 0.05 + 11 * 0.52;
  for (const double effect : {0.0, 0.1, 0.2, 0.3}) {
    penalties += 10 * (0.365 - effect);
  }
  penalties += 10 * (0.9 - 0.885 + 1 - 0.885);
  EXPECT_EQ(score.bands.bands, 13);
  EXPECT_EQ(score.bands.inside, 1 + 5);
  EXPECT_NEAR(score.bands.interval_score(), penalties / 13, 1e-9);
  EXPECT_EQ(score.later, 0);
}

TEST(Baseline, LaterCandidatesAreHeldAgainstLaterOnes) {
  std::vector<RecordedCampaign> campaigns = {campaign("a", {0.5, 0.1}), campaign("b", {3, 4}),
                                             campaign("c", {-0.2, 0, 0.2})};
  campaigns[0].stages[0].after_an_accept = true;
  EXPECT_EQ(score_baseline(campaigns, {}).later, 0) << "no other journal has any";
  campaigns[2].stages[0].after_an_accept = true;
  const Baseline score = score_baseline(campaigns, {});
  EXPECT_EQ(score.later, 5);
  EXPECT_EQ(score.later_bands.bands, 5);
  // The median of the others is 0 for the first two and 0.3 for the other three.
  EXPECT_NEAR(score.later_error, (0.5 + 0.1 + 0.5 + 0.3 + 0.1) / 5, 1e-9);
}

TEST(Baseline, CampaignsOfOneJournalAreNoOthers) {
  EXPECT_EQ(score_baseline({campaign("a", {0.5}), campaign("a", {0.1})}, {}).bands.bands, 0);
}

TEST(Baseline, KnownCampaignsAreOthersAndAreNotScored) {
  const Baseline score = score_baseline({campaign("a", {0.5, 0.6})}, {campaign("b", {0.5, 0.5})});
  EXPECT_EQ(score.bands.bands, 2);
  EXPECT_EQ(score.bands.inside, 1);
}

TEST(Baseline, OfNothingIsNothing) {
  EXPECT_EQ(score_baseline({}, {}).until_final, 0);
}

}  // namespace
}  // namespace apo
