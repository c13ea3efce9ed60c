// tests/research/prediction/prediction_test.cpp - the arithmetic of bands and of their calibration, and where a
// prediction comes from.
#include "harness/research/prediction/prediction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::result;
using fixtures::variant;

Prediction band(double low, double high) {
  return {.low = low, .high = high, .relative_to = "parent", .because = ""};
}

ScoredPrediction scored(double low, double high, double speedup) {
  const double effect = std::log(speedup);
  return {.predicted = band(low, high), .effect = effect, .lower = effect - 0.01, .upper = effect + 0.01};
}

TEST(Bands, ComposeAndInvert) {
  EXPECT_DOUBLE_EQ(composed(band(1.5, 2), band(2, 3)).low, 3);
  EXPECT_DOUBLE_EQ(composed(band(1.5, 2), band(2, 3)).high, 6);
  EXPECT_DOUBLE_EQ(inverted(band(1.25, 2)).low, 0.5);
  EXPECT_DOUBLE_EQ(inverted(band(1.25, 2)).high, 0.8);
  EXPECT_DOUBLE_EQ(log_middle(band(1, 4)), std::log(2));
}

TEST(Bands, HostileOnesAreNoBands) {
  EXPECT_TRUE(is_band(band(1, 1)));
  EXPECT_FALSE(is_band(band(0, 1)));
  EXPECT_FALSE(is_band(band(-1, 1)));
  EXPECT_FALSE(is_band(band(2, 1)));
  EXPECT_FALSE(is_band(band(1, INFINITY)));
  EXPECT_FALSE(is_band(band(std::nan(""), 1)));
}

TEST(Calibrate, WithoutAPastNothingIsCorrected) {
  const Calibration calibration = calibrate({});
  EXPECT_EQ(calibration.count, 0);
  EXPECT_DOUBLE_EQ(calibration.factor, 1);
  EXPECT_DOUBLE_EQ(corrected(band(1.2, 1.6), calibration).high, 1.6);
}

// One of two intervals touches its band; the errors are log 1.5 - log sqrt(1.4 x 1.8) and log 1 - log sqrt(1.2 x 1.3).
TEST(Calibrate, HitRateAndErrorsByHand) {
  const Calibration calibration = calibrate({scored(1.4, 1.8, 1.5), scored(1.2, 1.3, 1.0)});
  const double first = std::log(1.5) - 0.5 * std::log(1.4 * 1.8);
  const double second = 0 - 0.5 * std::log(1.2 * 1.3);
  EXPECT_EQ(calibration.count, 2);
  EXPECT_DOUBLE_EQ(calibration.hit_rate, 0.5);
  EXPECT_NEAR(calibration.mean_log_error, (first + second) / 2, 1e-12);
  EXPECT_NEAR(calibration.mean_abs_log_error, (std::fabs(first) + std::fabs(second)) / 2, 1e-12);
}

// Four predictions of 1.2x that gave nothing: (4 l^2 + 0) / (4 l^2 + 4 l^2) = 1/2.
TEST(Calibrate, PromisesThatGaveNothingHalveTheNextOnes) {
  const std::vector<ScoredPrediction> past(4, scored(1.2, 1.2, 1.0));
  const Calibration calibration = calibrate(past);
  EXPECT_NEAR(calibration.factor, 0.5, 1e-12);
  const Prediction next = corrected(band(1.44, 1.44), calibration);
  EXPECT_NEAR(next.low, 1.2, 1e-12);
}

TEST(Calibrate, CorrectionKeepsTheWidthOfTheBand) {
  const Prediction next = corrected(band(1.2, 1.8), calibrate({scored(1.5, 2.5, 1.0)}));
  EXPECT_NEAR(next.high / next.low, 1.5, 1e-12);
  EXPECT_LT(next.high, 1.8);
}

TEST(Calibrate, StaysBetweenZeroAndTwo) {
  EXPECT_DOUBLE_EQ(calibrate({scored(2, 2, 0.01)}).factor, 0);
  EXPECT_DOUBLE_EQ(calibrate({scored(2, 2, 100)}).factor, 2);
}

TEST(Calibrate, IgnoresBandsAndEffectsThatAreNoNumbers) {
  ScoredPrediction broken = scored(1, 2, 1.5);
  broken.effect = std::nan("");
  EXPECT_EQ(calibrate({broken, scored(0, 1, 1), scored(2, 1, 1)}).count, 0);
}

TEST(Capped, CutsTheTopAndLeavesTheRest) {
  EXPECT_DOUBLE_EQ(capped(band(1.2, 3), 2).high, 2);
  EXPECT_DOUBLE_EQ(capped(band(1.2, 3), 2).low, 1.2);
  EXPECT_DOUBLE_EQ(capped(band(1.2, 3), 5).high, 3);
}

TEST(Capped, ABandAboveTheBoundKeepsItsWidthBelowIt) {
  const Prediction narrow = capped(band(6, 9), 3);
  EXPECT_DOUBLE_EQ(narrow.high, 3);
  EXPECT_DOUBLE_EQ(narrow.low, 2);
  EXPECT_DOUBLE_EQ(capped(band(6, 90), 3).low, 1.5) << "of a very wide band no more than 2x";
  EXPECT_NEAR(capped(band(6, 6), 3).low, 3 / 1.1, 1e-12) << "not even a point stays a point there";
}

TEST(Unsupported, TheLowEndGoesHalfWayBack) {
  EXPECT_DOUBLE_EQ(unsupported(band(4, 9)).low, 2);
  EXPECT_DOUBLE_EQ(unsupported(band(4, 9)).high, 9);
  EXPECT_NEAR(unsupported(band(0.64, 1.2)).low, 0.64 * 0.8, 1e-12);
  EXPECT_DOUBLE_EQ(unsupported(band(1, 1)).low, 1) << "what is said to do nothing still is";
}

// ---------------------------------------------------------------- where a prediction comes from

struct Predicted {
  explicit Predicted(const ResearchInputs& in) : inputs(in), evidence(inputs), predictor(inputs, evidence) {}
  Prediction of(const std::string& name, Settings settings = {}) const {
    for (const RegisteredVariant& one : inputs.variants) {
      if (one.variant.name == name) {
        return predictor.predict(one.variant, {.variant = one.variant.id(), .settings = std::move(settings)}, 10);
      }
    }
    return {};
  }
  ResearchInputs inputs;
  Evidence evidence;
  Predictor predictor;
};

TEST(Predictor, OverTheParentThatIsTheIncumbentItIsTheFilesOwn) {
  const Prediction prediction = Predicted(fixtures::inputs({variant("a", "x", 1.4, 1.8)})).of("a");
  EXPECT_DOUBLE_EQ(prediction.low, 1.4);
  EXPECT_DOUBLE_EQ(prediction.high, 1.8);
  EXPECT_EQ(prediction.relative_to, "incumbent");
  EXPECT_EQ(prediction.because, "apo:predict");
}

TEST(Predictor, ComposesAlongTheAncestry) {
  const Prediction prediction =
      Predicted(fixtures::inputs({variant("a", "x", 1.5, 2.0), variant("b", "y", 1.1, 1.2, "toy/a")})).of("b");
  EXPECT_NEAR(prediction.low, 1.65, 1e-12);
  EXPECT_NEAR(prediction.high, 2.4, 1e-12);
}

// b is 1.1..1.2 over a, and a was measured at 0.9 of the incumbent, whatever a had promised.
TEST(Predictor, AMeasuredAncestorReplacesItsPromise) {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.5, 2.0), variant("b", "y", 1.1, 1.2, "toy/a")});
  PastResult past = result(4, "a", "simple", 0.9, Verdict::reverted);
  in.past = {past};
  const Prediction prediction = Predicted(in).of("b");
  EXPECT_NEAR(prediction.low, 1.1 * 0.9 * std::exp(-0.01), 1e-9);
  EXPECT_NEAR(prediction.high, 1.2 * 0.9 * std::exp(0.01), 1e-9);
  EXPECT_NE(prediction.because.find("a was measured in experiment 4"), std::string::npos) << prediction.because;
}

TEST(Predictor, ItsOwnMeasurementBeatsEveryPrediction) {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.5, 2.0)});
  in.past = {result(4, "a", "simple", 1.05, Verdict::inconclusive)};
  const Prediction prediction = Predicted(in).of("a");
  EXPECT_NEAR(prediction.low, 1.05 * std::exp(-0.01), 1e-12);
  EXPECT_EQ(prediction.source, PredictionSource::measurements);
}

// Both grew from `root`: a is 2..3 over it, the incumbent 1.25..2, so a over the incumbent is 1..2.4.
TEST(Predictor, SiblingsMeetAtTheirCommonAncestor) {
  ResearchInputs in = fixtures::inputs({variant("root", "r", 0, 0, ""), variant("a", "x", 2, 3, "toy/root")});
  in.diagnosis.incumbent.parent = "toy/root";
  in.diagnosis.incumbent.prediction = band(1.25, 2);
  const Prediction prediction = Predicted(in).of("a");
  EXPECT_NEAR(prediction.low, 1.0, 1e-12);
  EXPECT_NEAR(prediction.high, 2.4, 1e-12);
}

TEST(Predictor, AnAncestorOfTheIncumbentIsPredictedSlower) {
  ResearchInputs in = fixtures::inputs({variant("root", "r", 0, 0, "")});
  in.diagnosis.incumbent.parent = "toy/root";
  in.diagnosis.incumbent.prediction = band(1.25, 2);
  EXPECT_NEAR(Predicted(in).of("root").high, 0.8, 1e-12);
}

TEST(Predictor, WithoutAPredictionTheTechniquesPriorCounts) {
  const Prediction prediction = Predicted(fixtures::inputs({variant("a", "reused-state")})).of("a");
  EXPECT_DOUBLE_EQ(prediction.low, 1.1);
  EXPECT_DOUBLE_EQ(prediction.high, 1.8);
  EXPECT_NE(prediction.because.find("derived"), std::string::npos);
}

TEST(Predictor, WithoutAnyRelationTheBandIsTheBound) {
  const Prediction prediction = Predicted(fixtures::inputs({variant("a", "x", 0, 0, "")})).of("a");
  EXPECT_DOUBLE_EQ(prediction.low, 0.1);
  EXPECT_DOUBLE_EQ(prediction.high, 10);
}

TEST(Predictor, IsCappedAtTheBound) {
  EXPECT_DOUBLE_EQ(Predicted(fixtures::inputs({variant("a", "x", 20, 30)})).of("a").high, 10);
}

TEST(Predictor, WithoutAFloorAnUnrelatedVariantStillHasABand) {
  const Predicted predicted(fixtures::inputs({variant("a", "x", 0, 0, "")}));
  const Prediction prediction =
      predicted.predictor.predict(predicted.inputs.variants[0].variant, {.variant = "toy/a", .settings = {}}, INFINITY);
  EXPECT_DOUBLE_EQ(prediction.low, 0.25);
  EXPECT_DOUBLE_EQ(prediction.high, 4);
}

TEST(Predictor, AncestryThatBitesItsTailEnds) {
  const ResearchInputs in = fixtures::inputs({variant("a", "x", 2, 3, "toy/b"), variant("b", "y", 2, 3, "toy/a")});
  EXPECT_TRUE(is_band(Predicted(in).of("a")));
}

TEST(Predictor, AHostilePredictionFallsBackToThePrior) {
  EXPECT_DOUBLE_EQ(Predicted(fixtures::inputs({variant("a", "fused-dk", 5, 1)})).of("a").high, 1.05);
}

TEST(Predictor, PastDisappointmentsShrinkTheNextPromise) {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.4, 1.8)});
  PastResult past = result(4, "gone", "simple", 1.0, Verdict::reverted);
  past.prediction = band(1.5, 2.0);
  in.past = {past};
  EXPECT_LT(Predicted(in).of("a").high, 1.7);
}

TEST(Predictor, MeasuredPredictionsAreNotScored) {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.4, 1.8)});
  PastResult past = result(4, "gone", "simple", 1.0, Verdict::reverted);
  past.prediction = band(1.5, 2.0);
  past.prediction.source = PredictionSource::measurements;
  in.past = {past};
  EXPECT_EQ(calibration_of(Evidence(in)).count, 0);
}

}  // namespace
}  // namespace apo
