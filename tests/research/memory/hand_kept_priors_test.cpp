// tests/research/memory/hand_kept_priors_test.cpp - hand-kept rows as expectations, and how little they count.
#include "harness/research/memory/hand_kept_priors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/research/prediction/prediction.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::variant;

HandKeptRow measured(const std::string& change, int line = 1) {
  HandKeptRow row{.line = line,
                  .scope = HandKeptScope::kernel,
                  .subject = "toy",
                  .axes = {{"B", 16}},
                  .techniques = {"x"},
                  .quantity = HandKeptQuantity::speed,
                  .samples = 100,
                  .warm_up = "30 steps"};
  row.change = *stated_number(change, true);
  return row;
}

std::vector<HandKeptPrior> priors(std::vector<HandKeptRow> rows) {
  return hand_kept_priors({{.title = "j", .rows = std::move(rows)}}, "toy", Target::host, {{"B", 16}});
}

double sd(const HandKeptRow& row) {
  return priors({row}).at(0).sd;
}

TEST(HandKeptPriors, WhatTheEvidenceLacksWidensThem) {
  const HandKeptRow best = measured("10 %");
  EXPECT_NEAR(priors({best}).at(0).effect, std::log(1.1), 1e-12);
  EXPECT_GT(sd(best), 0.3) << "another device";
  HandKeptRow row = best;
  row.samples = 0;
  EXPECT_GT(sd(row), sd(best)) << "no n";
  row = best;
  row.warm_up = "none";
  EXPECT_GT(sd(row), sd(best)) << "no warm-up";
  row = best;
  row.techniques = {"x", "y"};
  row.joint = true;
  EXPECT_GT(sd(row), sd(best)) << "joint";
  row = best;
  row.axes = {{"B", 2}};
  EXPECT_GT(sd(row), sd(best)) << "other sizes";
  EXPECT_GT(sd(measured("0..40 %")), sd(best)) << "a range";
}

TEST(HandKeptPriors, RowsThatContradictEachOtherWidenThemAndMoreOfThemNarrowNothing) {
  EXPECT_GT(priors({measured("50 %", 1), measured("-50 %", 2)}).at(0).sd, sd(measured("50 %")) + 0.1);
  EXPECT_NEAR(priors({measured("10 %", 1), measured("10 %", 2)}).at(0).sd, sd(measured("10 %")), 1e-9);
  EXPECT_EQ(priors({measured("10 %", 4), measured("10 %", 7)}).at(0).source, "j, lines 4, 7");
}

TEST(HandKeptPriors, WhatIsSupersededOrOfAnotherScopeFamilyOrTargetIsNone) {
  HandKeptRow row = measured("10 %");
  row.superseded_by = 2;
  EXPECT_TRUE(priors({row}).empty());
  row = measured("10 %");
  row.scope = HandKeptScope::step;
  EXPECT_TRUE(priors({row}).empty());
  row = measured("10 %");
  row.subject = "other";
  EXPECT_TRUE(priors({row}).empty());
  row = measured("10 %");
  row.target = Target::cuda;
  EXPECT_TRUE(priors({row}).empty()) << "adaptive-threads are other threads on a GPU";
  row.target = Target::host;
  EXPECT_FALSE(priors({row}).empty());
  EXPECT_TRUE(priors({}).empty());
}

TEST(HandKeptPriors, APromiseCountsWhereNothingWasMeasuredAndLess) {
  HandKeptRow promise = measured("10 %");
  promise.change = {};
  promise.predicted = *stated_number("40 %", true);
  promise.predicted_scope = HandKeptScope::kernel;
  EXPECT_NEAR(priors({promise}).at(0).effect, std::log(1.4), 1e-12);
  EXPECT_GT(sd(promise), sd(measured("40 %")));
  EXPECT_NEAR(priors({promise, measured("10 %")}).at(0).effect, std::log(1.1), 1e-12);
}

TEST(Predictor, AHandKeptNumberIsAWideForecastOfWhatNobodyPromised) {
  ResearchInputs in = fixtures::inputs({variant("a", "x"), variant("b", "y"), variant("c", "x", 1.1, 1.1)});
  const auto forecast = [&](std::size_t index) {
    const Variant& variant = in.variants[index].variant;
    return Predictor(in, Evidence(in)).predict(variant, {.variant = variant.id(), .settings = {}}, 1000);
  };
  const double promised = forecast(2).effect;
  EXPECT_EQ(forecast(0).band.source, PredictionSource::nothing);
  in.hand_kept = {{.title = "j", .rows = {measured("100 %")}}};
  EXPECT_NEAR(forecast(0).effect, std::log(2), 1e-3);
  EXPECT_LT(forecast(0).band.low, 1.4);
  EXPECT_EQ(forecast(0).band.because, "100 % hand-kept journals");
  EXPECT_EQ(forecast(1).band.source, PredictionSource::nothing) << "a technique that the journal does not name";
  EXPECT_NEAR(forecast(2).effect, promised, 1e-3) << "its author knew the journal";
}

TEST(Predictor, AHandKeptNumberOfSeveralTechniquesSaysNothingOfOne) {
  ResearchInputs in = fixtures::inputs({variant("a", "x")});
  HandKeptRow row = measured("100 %");
  row.techniques = {"x", "y"};
  row.joint = true;
  in.hand_kept = {{.title = "j", .rows = {row}}};
  const Forecast forecast =
      Predictor(in, Evidence(in)).predict(in.variants[0].variant, {.variant = "toy/a", .settings = {}}, 1000);
  EXPECT_EQ(forecast.band.source, PredictionSource::nothing);
}

}  // namespace
}  // namespace apo
