// tests/evaluate/programs/judge_runs_test.cpp - from recorded runs to the verdict: speed, quality,
// failures.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/evaluate/programs/judge_programs.h"
#include "kernels/random.h"
#include "tests/text.h"

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

ApplicationRun a_run(int pair, Side side, std::int64_t seed, double step, double loss) {
  return {.pair = pair,
          .side = side,
          .seed = seed,
          .start_up_s = 3,
          .steps = 10,
          .seconds = 10 * step,
          .wall_s = 3 + 10 * step,
          .values = {{"step", step}, {"loss", loss}}};
}

ProgramComparison measured(const Truth& truth, std::uint64_t draw = 1) {
  ProgramComparison comparison{
      .kind = ComparisonKind::application,
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
    comparison.runs.push_back(a_run(pair, Side::a, seed, 0.1 * std::exp(truth.time_noise * random.normal()), loss));
    comparison.runs.push_back(a_run(pair, Side::b, seed,
                                    0.1 / truth.speedup * std::exp(truth.time_noise * random.normal()),
                                    loss + truth.loss_change + truth.loss_noise * random.normal()));
  }
  judge_runs(comparison);
  return comparison;
}

const Figure& quality(const ProgramComparison& judged) {
  return judged.figures.at(2);  // behind the step and the start-up
}

TEST(JudgeRuns, FasterAndEquivalentIsAccepted) {
  const ProgramComparison judged = measured({.speedup = 1.05});
  EXPECT_EQ(judged.judgement->verdict, Verdict::accepted);
  EXPECT_EQ(judged.judgement->reason, Reason::faster);
  EXPECT_NEAR(judged.judgement->effect, std::log(1.05), 0.003);
  EXPECT_EQ(judged.judgement->rounds, 14);
  EXPECT_EQ(quality(judged).finding, QualityFinding::equivalent);
  EXPECT_EQ(quality(judged).count, 5) << "pairs of one seed are one value";
}

TEST(JudgeRuns, IdenticalArmsAreNeverAccepted) {
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    EXPECT_NE(measured({.time_noise = 0.01, .pairs = 10}, draw).judgement->verdict, Verdict::accepted) << draw;
  }
}

TEST(JudgeRuns, WhatIsFasterAndLearnsWorseIsRevertedWithBothShown) {
  const ProgramComparison judged = measured({.speedup = 1.5, .loss_change = 0.05});
  EXPECT_EQ(judged.judgement->verdict, Verdict::reverted);
  EXPECT_EQ(judged.judgement->reason, Reason::quality_lost);
  expect_contains(judged.judgement->sentence, "1.5");
  expect_contains(judged.judgement->sentence, "worse with margin 0.01");
}

TEST(JudgeRuns, ABetterQualityIsNoReasonToRevert) {
  const ProgramComparison judged = measured({.speedup = 1.05, .loss_change = -0.05});
  EXPECT_EQ(judged.judgement->verdict, Verdict::accepted);
  EXPECT_EQ(quality(judged).finding, QualityFinding::better);
}

TEST(JudgeRuns, HigherQualityIsBetterWhereTheDeclarationSaysSo) {
  ProgramComparison judged = measured({.speedup = 1.05, .loss_change = -0.05});
  judged.application.metrics[1].higher_is_better = true;
  judge_runs(judged);
  EXPECT_EQ(quality(judged).finding, QualityFinding::worse);
}

TEST(JudgeRuns, NoiseLargerThanTheMarginIsInconclusiveWithTheSeedsThatItNeeds) {
  const ProgramComparison judged = measured({.speedup = 1.05, .loss_noise = 0.1});
  EXPECT_EQ(judged.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(quality(judged).finding, QualityFinding::inconclusive);
  EXPECT_GT(quality(judged).needed, 5);
  expect_contains(judged.judgement->sentence, "seeds would decide");
}

TEST(JudgeRuns, FewerThanFiveSeedsShowNoEquivalence) {
  const ProgramComparison judged = measured({.speedup = 1.05, .seeds = 4});
  EXPECT_EQ(judged.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(quality(judged).needed, 5);
}

TEST(JudgeRuns, FivePairsDecideTheQualityAndNeverTheSpeed) {
  const ProgramComparison equal = measured({.speedup = 3, .pairs = 5});
  EXPECT_EQ(equal.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(quality(equal).finding, QualityFinding::equivalent);
  EXPECT_TRUE(std::isfinite(equal.judgement->lower) && std::isfinite(equal.judgement->upper));
  EXPECT_DOUBLE_EQ(equal.judgement->confidence, 1 - 2.0 / 32);
  EXPECT_EQ(measured({.speedup = 3, .loss_change = 0.02, .pairs = 5}).judgement->reason, Reason::quality_lost);
}

TEST(JudgeRuns, SlowerAndEquallyFastAreReverted) {
  EXPECT_EQ(measured({.speedup = 0.95}).judgement->reason, Reason::regression);
  EXPECT_EQ(measured({}).judgement->reason, Reason::equivalent);
  EXPECT_EQ(measured({.time_noise = 0.1}).judgement->reason, Reason::unresolved);
}

TEST(JudgeRuns, ARateIsFasterWhereItIsHigher) {
  ProgramComparison judged = measured({.speedup = 1.05});
  judged.application.metrics[0].higher_is_better = true;
  judge_runs(judged);
  EXPECT_EQ(judged.judgement->reason, Reason::regression);
}

TEST(JudgeRuns, TheRunsGiveTheRecordedVerdictAgainAndAForgedOneIsFound) {
  ProgramComparison judged = measured({.speedup = 1.05, .loss_change = 0.05});
  EXPECT_EQ(difference_on_replay(judged), "");
  judged.judgement->verdict = Verdict::accepted;
  EXPECT_NE(difference_on_replay(judged), "");
  judged = measured({.speedup = 1.05});
  judged.runs[0].values["step"] *= 1.001;
  EXPECT_NE(difference_on_replay(judged), "");
}

TEST(JudgeRuns, AFailureIsTheDispatchesWhereOnlyOneArmHasIt) {
  ProgramComparison judged = measured({.speedup = 1.05, .pairs = 2});
  judged.runs.back().outcome = Outcome::not_finite;
  judged.runs.back().evidence = "'loss' of step 3 is no finite number";
  judge_runs(judged);
  EXPECT_EQ(judged.judgement->verdict, Verdict::reverted);
  EXPECT_EQ(judged.judgement->reason, Reason::gate_failed);
  EXPECT_EQ(judged.outcome, Outcome::not_finite);
  EXPECT_EQ(judged.failed, FailedSide::b);
  EXPECT_EQ(judged.judgement->rounds, 1) << "what was measured before is shown";
  judged.runs[2].outcome = Outcome::faulted;
  judge_runs(judged);
  EXPECT_EQ(judged.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(judged.failed, FailedSide::both);
}

}  // namespace
}  // namespace apo
