// tests/applications/decide_application_test.cpp - from recorded runs to the verdict: speed, quality,
// failures.
#include "harness/applications/decide_application.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/random.h"

namespace apo {
namespace {

// How B differs from A, and by how much both scatter.
struct Truth {
  double speedup = 1;
  double loss_change = 0;
  double time_noise = 0.002;
  double loss_noise = 0.0005;
  int pairs = 14;
  int seeds = 5;
};

ApplicationRun a_run(int pair, bool of_b, std::int64_t seed, double step, double loss) {
  return {.pair = pair,
          .of_b = of_b,
          .seed = seed,
          .start_up_s = 3,
          .steps = 10,
          .seconds = 10 * step,
          .wall_s = 3 + 10 * step,
          .values = {{"step", step}, {"loss", loss}}};
}

ApplicationComparison measured(const Truth& truth, std::uint64_t draw = 1) {
  ApplicationComparison comparison{
      .application = {.metrics = {{.name = "step", .unit = "s", .role = MetricRole::speed},
                                  {.name = "loss", .role = MetricRole::quality, .margin = 0.01}},
                      .steps = 10}};
  for (int seed = 0; seed < truth.seeds; ++seed) {
    comparison.application.seeds.push_back(seed);
  }
  Random random(draw);
  for (int pair = 0; pair < truth.pairs; ++pair) {
    const std::int64_t seed = pair % truth.seeds;
    const double loss = 2 + 0.1 * static_cast<double>(seed);  // seeds differ by much more than the margin
    comparison.runs.push_back(a_run(pair, false, seed, 0.1 * std::exp(truth.time_noise * random.normal()), loss));
    comparison.runs.push_back(a_run(pair, true, seed,
                                    0.1 / truth.speedup * std::exp(truth.time_noise * random.normal()),
                                    loss + truth.loss_change + truth.loss_noise * random.normal()));
  }
  decide(comparison);
  return comparison;
}

TEST(DecideApplication, FasterAndEquivalentIsAccepted) {
  const ApplicationComparison judged = measured({.speedup = 1.05});
  EXPECT_EQ(judged.verdict, Verdict::accepted);
  EXPECT_EQ(judged.reason, Reason::faster);
  ASSERT_NE(deciding_speed(judged), nullptr);
  EXPECT_NEAR(deciding_speed(judged)->effect, std::log(1.05), 0.003);
  EXPECT_EQ(deciding_speed(judged)->pairs, 14);
  EXPECT_EQ(judged.qualities.at(0).finding, QualityFinding::equivalent);
  EXPECT_EQ(judged.qualities.at(0).seeds, 5) << "pairs of one seed are one value";
}

TEST(DecideApplication, IdenticalArmsAreNeverAccepted) {
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    EXPECT_NE(measured({.time_noise = 0.01, .pairs = 10}, draw).verdict, Verdict::accepted) << draw;
  }
}

TEST(DecideApplication, WhatIsFasterAndLearnsWorseIsRevertedWithBothShown) {
  const ApplicationComparison judged = measured({.speedup = 1.5, .loss_change = 0.05});
  EXPECT_EQ(judged.verdict, Verdict::reverted);
  EXPECT_EQ(judged.reason, Reason::quality_lost);
  EXPECT_NE(judged.sentence.find("1.5"), std::string::npos) << judged.sentence;
  EXPECT_NE(judged.sentence.find("worse with margin 0.01"), std::string::npos) << judged.sentence;
}

TEST(DecideApplication, ABetterQualityIsNoReasonToRevert) {
  const ApplicationComparison judged = measured({.speedup = 1.05, .loss_change = -0.05});
  EXPECT_EQ(judged.verdict, Verdict::accepted);
  EXPECT_EQ(judged.qualities.at(0).finding, QualityFinding::better);
}

TEST(DecideApplication, HigherQualityIsBetterWhereTheDeclarationSaysSo) {
  ApplicationComparison judged = measured({.speedup = 1.05, .loss_change = -0.05});
  judged.application.metrics[1].higher_is_better = true;
  decide(judged);
  EXPECT_EQ(judged.qualities.at(0).finding, QualityFinding::worse);
}

TEST(DecideApplication, NoiseLargerThanTheMarginIsInconclusiveWithTheSeedsThatItNeeds) {
  const ApplicationComparison judged = measured({.speedup = 1.05, .loss_noise = 0.1});
  EXPECT_EQ(judged.verdict, Verdict::inconclusive);
  EXPECT_EQ(judged.qualities.at(0).finding, QualityFinding::inconclusive);
  EXPECT_GT(judged.qualities.at(0).seeds_needed, 5);
  EXPECT_NE(judged.sentence.find("seeds would decide"), std::string::npos) << judged.sentence;
}

TEST(DecideApplication, FewerThanFiveSeedsShowNoEquivalence) {
  const ApplicationComparison judged = measured({.speedup = 1.05, .seeds = 4});
  EXPECT_EQ(judged.verdict, Verdict::inconclusive);
  EXPECT_EQ(judged.qualities.at(0).seeds_needed, 5);
}

TEST(DecideApplication, FivePairsDecideTheQualityAndNeverTheSpeed) {
  const ApplicationComparison equal = measured({.speedup = 3, .pairs = 5});
  EXPECT_EQ(equal.verdict, Verdict::inconclusive);
  EXPECT_EQ(equal.qualities.front().finding, QualityFinding::equivalent);
  ASSERT_NE(deciding_speed(equal), nullptr);
  EXPECT_TRUE(std::isfinite(deciding_speed(equal)->lower) && std::isfinite(deciding_speed(equal)->upper));
  EXPECT_DOUBLE_EQ(deciding_speed(equal)->confidence, 1 - 2.0 / 32);
  EXPECT_EQ(measured({.speedup = 3, .loss_change = 0.02, .pairs = 5}).reason, Reason::quality_lost);
}

TEST(DecideApplication, SlowerAndEquallyFastAreReverted) {
  EXPECT_EQ(measured({.speedup = 0.95}).reason, Reason::regression);
  EXPECT_EQ(measured({}).reason, Reason::equivalent);
  EXPECT_EQ(measured({.time_noise = 0.1}).reason, Reason::unresolved);
}

TEST(DecideApplication, ARateIsFasterWhereItIsHigher) {
  ApplicationComparison judged = measured({.speedup = 1.05});
  judged.application.metrics[0].higher_is_better = true;
  decide(judged);
  EXPECT_EQ(judged.reason, Reason::regression);
}

TEST(DecideApplication, TheRunsGiveTheRecordedVerdictAgainAndAForgedOneIsFound) {
  ApplicationComparison judged = measured({.speedup = 1.05, .loss_change = 0.05});
  EXPECT_EQ(difference_on_replay(judged), "");
  judged.verdict = Verdict::accepted;
  EXPECT_NE(difference_on_replay(judged), "");
  judged = measured({.speedup = 1.05});
  judged.runs[0].values["step"] *= 1.001;
  EXPECT_NE(difference_on_replay(judged), "");
}

TEST(DecideApplication, AFailureIsTheDispatchesWhereOnlyOneArmHasIt) {
  ApplicationComparison judged = measured({.speedup = 1.05, .pairs = 2});
  judged.runs.back().outcome = Outcome::not_finite;
  judged.runs.back().evidence = "'loss' of step 3 is no finite number";
  decide(judged);
  EXPECT_EQ(judged.verdict, Verdict::reverted);
  EXPECT_EQ(judged.reason, Reason::gate_failed);
  EXPECT_EQ(judged.outcome, Outcome::not_finite);
  EXPECT_EQ(failed_arms(judged), "b");
  EXPECT_EQ(deciding_speed(judged)->pairs, 1) << "what was measured before is shown";
  judged.runs[2].outcome = Outcome::faulted;
  decide(judged);
  EXPECT_EQ(judged.verdict, Verdict::inconclusive);
  EXPECT_EQ(failed_arms(judged), "both");
}

}  // namespace
}  // namespace apo
