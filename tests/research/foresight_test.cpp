// tests/research/foresight_test.cpp - scores of small campaigns, counted by hand.
#include "harness/research/foresight.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::inputs;
using fixtures::result;
using fixtures::variant;

PastResult predicted(PastResult past, double low, double high) {
  past.prediction = {.low = low, .high = high, .relative_to = "incumbent", .because = "somebody said so"};
  return past;
}

// simple -> b (2x), then c (0.5x of b) before d (0.9x of b): the order of those two was wrong.
RecordedCampaign campaign() {
  RecordedCampaign campaign{.name = "a campaign", .stages = {}};
  RecordedStage first{
      .inputs = inputs({variant("b", "x", 1.9, 2.1), variant("c", "y", 0.9, 1.1), variant("d", "z", 1.5, 1.7)}),
      .judged = {predicted(result(1, "b", "simple", 2, Verdict::accepted), 1.5, 1.9)},
      .first_bound = 1.5};
  RecordedStage second = first;
  second.after_an_accept = true;
  second.first_bound = 0;
  second.inputs.incumbent.variant = "toy/b";
  second.inputs.diagnosis.incumbent = first.inputs.variants[0].variant;
  second.inputs.past = first.judged;
  second.judged = {predicted(result(2, "c", "b", 0.5, Verdict::reverted), 0.4, 1.0),
                   result(3, "d", "b", 0.9, Verdict::reverted)};
  campaign.stages = {first, second};
  return campaign;
}

TEST(Foresight, OfARecordedCampaignIsCounted) {
  const ForesightReport report = score_foresight({campaign()});
  EXPECT_EQ(report.experiments, 3);
  EXPECT_EQ(report.accepted, 1);
  const Foresight& recorded = report.recorded;
  EXPECT_EQ(recorded.bounded, 1);
  EXPECT_EQ(recorded.above_bound, 1) << "2x where 1.5x was the most";
  EXPECT_EQ(report.now.bounded, 0) << "nothing to diagnose again";
  EXPECT_EQ(recorded.right_pairs, 0);
  EXPECT_EQ(recorded.wrong_pairs, 1);
  EXPECT_DOUBLE_EQ(recorded.until_final, 1);
  EXPECT_EQ(recorded.bands.bands, 2);
  EXPECT_EQ(recorded.bands.inside, 1);
  const double outside = std::log(2 / 1.9);
  EXPECT_NEAR(recorded.bands.interval_score(), 0.5 * (std::log(1.9 / 1.5) + 10 * outside + std::log(1 / 0.4)), 1e-9);
  EXPECT_EQ(recorded.later, 1);
  EXPECT_EQ(recorded.later_bands.bands, 1);
  EXPECT_NEAR(recorded.later_bands.interval_score(), std::log(1 / 0.4), 1e-9) << "0.5x lies inside";
  EXPECT_NEAR(recorded.later_error, std::fabs(std::log(0.5) - 0.5 * std::log(0.4)), 1e-9);
  EXPECT_EQ(recorded.after_last_accept, 2);
  EXPECT_EQ(recorded.lost_accepts, 0);
}

TEST(Foresight, ARecordedBandThatIsNoneIsNotScored) {
  RecordedCampaign one = campaign();
  one.stages[0].judged[0].prediction.high = std::nan("");
  one.stages[1].judged[0].prediction.low = 0;
  const Foresight recorded = score_foresight({one}).recorded;
  EXPECT_EQ(recorded.bands.bands, 0);
  EXPECT_EQ(recorded.later, 0);
}

TEST(Foresight, OfThisProgramIsThatOfItsPredictor) {
  const ForesightReport report = score_foresight({campaign()});
  EXPECT_EQ(report.now.right_pairs, 1) << "d promises more than c";
  EXPECT_EQ(report.now.wrong_pairs, 0);
  EXPECT_EQ(report.now.bands.bands, 3);
  EXPECT_DOUBLE_EQ(report.now.until_final, 1);
}

TEST(Foresight, CountsTheSecondsOfWhatWasJudgedUntilTheFinalIncumbent) {
  RecordedCampaign one = campaign();
  one.stages[0].judged.front().seconds = 40;
  one.stages[1].judged[0].seconds = 9;
  one.stages[1].judged[1].verdict = Verdict::accepted;
  one.stages[1].judged[1].seconds = 20;
  EXPECT_DOUBLE_EQ(score_foresight({one}).recorded.seconds_until_final, 69);
  EXPECT_DOUBLE_EQ(score_foresight({one}).recorded.until_final, 3);
}

TEST(Foresight, AnIncumbentAtItsFloorIsNotTriedFurther) {
  RecordedCampaign one = campaign();
  EXPECT_EQ(score_foresight({one}).now.after_last_accept, 1) << "toy/d";
  one.stages[1].inputs.diagnosis.profile.floor_fraction = 0.95;
  EXPECT_EQ(score_foresight({one}).now.after_last_accept, 0);
}

// One effect a journal, of n: the reach is that of the 0.8 (n + 1)th, rounded up, which is the farthest of four or
// five.
TEST(Foresight, HeldOutBandsReachAsFarAsTheOtherJournalsAsk) {
  std::vector<RecordedCampaign> campaigns;
  for (const double gain : {2.0, 2.0, 2.0, 2.0, 9.0}) {
    RecordedCampaign one = campaign();
    one.journal = "journal " + std::to_string(campaigns.size());
    one.stages.resize(1);
    one.stages[0].judged[0].effect = std::log(gain);
    campaigns.push_back(one);
  }
  const HeldOutBands bands = score_foresight(campaigns).held_out;
  EXPECT_EQ(bands.bands.bands, 5);
  EXPECT_EQ(bands.bands.inside, 4) << "all but the one of which the others know nothing";
  EXPECT_GT(bands.reach, 3) << "the ninefold one is the fifth";
}

TEST(Foresight, AnAcceptThatWouldNotHaveBeenTriedIsLost) {
  RecordedCampaign one = campaign();
  one.stages.resize(1);
  EXPECT_EQ(score_foresight({one}).now.lost_accepts, 0);
  PastResult before = result(9, "b", "simple", 0.5, Verdict::reverted);
  one.stages[0].inputs.past = {before};
  EXPECT_EQ(score_foresight({one}).now.lost_accepts, 1);
}

// Two settings of c, each of which nobody has judged: the loss of the one tells of the other.
TEST(Foresight, TheRestOfAStageIsRankedAnewAfterEachVerdict) {
  RecordedCampaign one = campaign();
  RecordedStage& last = one.stages[1];
  for (RegisteredVariant& registered : last.inputs.variants) {
    registered.variant.tunables = {{.name = "N", .values = {1, 2}}};
  }
  PastResult other = result(3, "d", "b", 0.4, Verdict::reverted);
  other.candidate.settings = {{"N", 2}};
  PastResult first = result(2, "d", "b", 0.4, Verdict::reverted);
  first.candidate.settings = {{"N", 1}};
  last.judged = {other, first};
  EXPECT_EQ(score_foresight({one}).recorded.after_last_accept, 2);
  EXPECT_EQ(score_foresight({one}).now.after_last_accept, 1);
}

TEST(Foresight, ARecordedProfileIsDiagnosedAgain) {
  RecordedCampaign one = campaign();
  one.stages[0].diagnosable = true;
  const ForesightReport report = score_foresight({one});
  EXPECT_EQ(report.now.bounded, 1);
  EXPECT_EQ(report.now.above_bound, 0) << "libm's special functions are worth more than 2x";
}

TEST(Foresight, OfNothingIsNothing) {
  const ForesightReport report = score_foresight({});
  EXPECT_EQ(report.experiments, 0);
  EXPECT_EQ(report.now.bands.interval_score(), 0);
}

}  // namespace
}  // namespace apo
