// tests/research/prediction/prediction_test.cpp - what a forecast rests on, and how it follows what was measured.
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

TEST(Bands, AreFinitePositiveAndInOrder) {
  EXPECT_TRUE(is_band(band(1, 1)));
  for (const auto& [low, high] : {std::pair(0.0, 1.0), {-1.0, 1.0}, {2.0, 1.0}, {1.0, INFINITY}, {std::nan(""), 1.0}}) {
    EXPECT_FALSE(is_band(band(low, high))) << low << " " << high;
  }
}

struct Predicted {
  explicit Predicted(const ResearchInputs& in) : inputs(in), evidence(inputs), predictor(inputs, evidence) {}
  Forecast of(const std::string& name, Settings settings = {}, double bound = 1000) const {
    for (const RegisteredVariant& one : inputs.variants) {
      if (one.variant.name == name) {
        return predictor.predict(one.variant, {.variant = one.variant.id(), .settings = std::move(settings)}, bound);
      }
    }
    return {};
  }
  ResearchInputs inputs;
  Evidence evidence;
  Predictor predictor;
};

// toy/a promises 1.5x to 2x over the incumbent.
ResearchInputs promising(std::vector<PastResult> past = {}) {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.5, 2.0)});
  in.past = std::move(past);
  return in;
}

Forecast of_a(const ResearchInputs& in) {
  return Predicted(in).of("a");
}

TEST(Predictor, APromiseIsItsMiddleAndWiderThanItSays) {
  const Forecast forecast = Predicted(fixtures::inputs({variant("a", "x", 1.4, 1.8)})).of("a");
  EXPECT_NEAR(forecast.effect, 0.5 * std::log(1.4 * 1.8), 1e-3);
  EXPECT_LT(forecast.band.low, 1.4);
  EXPECT_GT(forecast.band.high, 1.8);
  EXPECT_EQ(forecast.band.relative_to, "incumbent");
  EXPECT_EQ(forecast.band.because, "100 % apo:predict");
}

TEST(Predictor, PromisesAddAlongTheAncestry) {
  const Predicted predicted(fixtures::inputs({variant("a", "x", 1.5, 2.0), variant("b", "y", 1.1, 1.2, "toy/a")}));
  EXPECT_NEAR(predicted.of("b").effect, 0.5 * std::log(1.65 * 2.4), 2e-3);
  EXPECT_GT(predicted.of("b").sd, predicted.of("a").sd);
}

// b is 1.15x over a, and a was measured at 0.9x of the incumbent, whatever it had promised.
TEST(Predictor, AMeasuredAncestorReplacesItsPromise) {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.5, 2.0), variant("b", "y", 1.1, 1.2, "toy/a")});
  const double before = Predicted(in).of("b").effect;
  in.past = {result(4, "a", "simple", 0.9, Verdict::reverted)};
  const Forecast forecast = Predicted(in).of("b");
  EXPECT_LT(forecast.effect, before - 0.5);
  EXPECT_NE(forecast.band.because.find("judgements here"), std::string::npos) << forecast.band.because;
}

TEST(Predictor, ItsOwnMeasurementBeatsEveryPromise) {
  const Forecast forecast = of_a(promising({result(4, "a", "simple", 1.05, Verdict::inconclusive)}));
  EXPECT_NEAR(forecast.effect, std::log(1.05), 1e-3);
  EXPECT_LT(forecast.sd, 0.02);
  EXPECT_EQ(forecast.band.source, PredictionSource::measurements);
  EXPECT_EQ(forecast.band.because, "100 % judgements here: experiment 4");
}

TEST(Predictor, AJudgementElsewhereCountsTheLessTheFartherAway) {
  ResearchInputs in = promising();
  in.model = "NVIDIA H200";
  in.isa = "sm_90";
  double sd = 0;
  for (int away = 0; away < 4; ++away) {
    PastResult past = result(4, "a", "simple", 0.9, Verdict::reverted);
    past.machine = "other";
    past.model = away < 1 ? in.model : "NVIDIA GH200";
    past.isa = away < 2 ? in.isa : "sm_80";
    past.workload_class = away < 3 ? in.workload_class : "other";
    in.past = {past};
    const Forecast forecast = of_a(in);
    EXPECT_LT(forecast.effect, 0.5 * std::log(3.0)) << away;
    EXPECT_GT(forecast.sd, sd) << away;
    EXPECT_EQ(forecast.band.source, PredictionSource::idea) << "nobody has judged it here";
    sd = forecast.sd;
  }
}

TEST(Predictor, AJudgementUnderOtherCachesIsNotOneOfThese) {
  PastResult past = result(4, "a", "simple", 0.9, Verdict::reverted);
  past.cache = CachePolicy::warm;
  ResearchInputs in = promising({past});
  in.cache = CachePolicy::warm;
  EXPECT_EQ(of_a(in).band.source, PredictionSource::measurements);
  in.cache = CachePolicy::cold;
  EXPECT_EQ(of_a(in).band.source, PredictionSource::idea);
  EXPECT_GT(of_a(in).sd, 0.1);
}

// Both grew from `root`: a is about 2.4x over it, the incumbent 1.6x.
TEST(Predictor, SiblingsMeetAtTheirCommonAncestor) {
  ResearchInputs in = fixtures::inputs({variant("root", "r", 0, 0, ""), variant("a", "x", 2, 3, "toy/root")});
  in.diagnosis.incumbent.parent = "toy/root";
  in.diagnosis.incumbent.prediction = band(1.25, 2);
  EXPECT_NEAR(of_a(in).effect, 0.5 * std::log(6.0 / 2.5), 2e-3);
  EXPECT_NEAR(Predicted(in).of("root").effect, -0.5 * std::log(2.5), 2e-3) << "an ancestor of the incumbent is slower";
}

TEST(Predictor, WithoutAPromiseTheTechniquesPriorCounts) {
  const Forecast forecast = Predicted(fixtures::inputs({variant("a", "reused-state")})).of("a");
  EXPECT_NEAR(forecast.effect, 0.5 * std::log(1.1 * 1.8), 1e-3);
  EXPECT_EQ(forecast.band.because, "100 % what its techniques gave");
}

TEST(Predictor, AHostilePromiseFallsBackToThePrior) {
  EXPECT_EQ(Predicted(fixtures::inputs({variant("a", "fused-dk", 5, 1)})).of("a").band.because,
            "100 % what its techniques gave");
}

TEST(Predictor, WithoutAnyRelationTheBandIsTheBoundAndSaysSo) {
  const Predicted predicted(fixtures::inputs({variant("a", "x", 0, 0, "")}));
  EXPECT_DOUBLE_EQ(predicted.of("a", {}, 3).band.high, 3);
  EXPECT_DOUBLE_EQ(predicted.of("a", {}, INFINITY).band.high, 4);
  EXPECT_DOUBLE_EQ(predicted.of("a", {}, INFINITY).band.low, 0.25);
  EXPECT_EQ(predicted.of("a").band.source, PredictionSource::nothing);
}

TEST(Predictor, TheBandEndsWhereTheFloorDoesUnlessItLiesAboveIt) {
  const Predicted predicted(fixtures::inputs({variant("a", "x", 20, 30), variant("b", "y", 400, 400)}));
  EXPECT_DOUBLE_EQ(predicted.of("a", {}, 15).band.high, 15);
  EXPECT_LT(predicted.of("a", {}, 15).band.low, 15);
  EXPECT_GT(predicted.of("b", {}, 10).band.high, 400) << "products on tensor cores, and a floor of FMA";
}

TEST(Predictor, AncestryThatBitesItsTailIsNoTrouble) {
  const ResearchInputs in = fixtures::inputs({variant("a", "x", 2, 3, "toy/b"), variant("b", "y", 2, 3, "toy/a")});
  EXPECT_EQ(of_a(in).band.source, PredictionSource::nothing) << "neither leads to the incumbent";
}

TEST(Predictor, AnotherTextOfAVariantIsLikeTheOneThatWasMeasured) {
  PastResult past = result(4, "a", "simple", 0.8, Verdict::reverted);
  past.candidate_source_hash = "older";
  const Forecast forecast = of_a(promising({past}));
  EXPECT_LT(forecast.effect, -0.1);
  EXPECT_EQ(forecast.band.source, PredictionSource::idea);
}

TEST(Predictor, ProposedSettingsAreALittleSlowerThanTheDefaultsAndOthersAreUnknown) {
  ResearchInputs in = promising({result(1, "a", "simple", 1.5, Verdict::accepted)});
  in.variants[0].variant.tunables = {{.name = "K", .values = {16, 8, 4}}};
  in.proposed = {{.configuration = {.variant = "toy/a", .settings = {{"K", 8}}}}};
  const Predicted predicted(in);
  EXPECT_LT(predicted.of("a", {{"K", 8}}).effect, predicted.of("a", {{"K", 16}}).effect - 0.01);
  EXPECT_GT(predicted.of("a", {{"K", 8}}).sd, 0.1);
  EXPECT_EQ(predicted.of("a", {{"K", 4}}).band.source, PredictionSource::nothing);
}

TEST(Predictor, AScanOutweighsAPromiseAndAJudgementOutweighsAScan) {
  ResearchInputs in = promising();
  in.scanned = {fixtures::scan("a", "simple", 1.1), fixtures::scan("a", "simple", 1.2)};
  EXPECT_NEAR(of_a(in).effect, std::log(1.2), 1e-9) << "the newest row";
  EXPECT_EQ(of_a(in).band.source, PredictionSource::measurements);
  EXPECT_EQ(of_a(in).band.because, "a scan: 833.3 us beside 1 ms, 9 pairs of calls");
  in.past = {result(4, "a", "simple", 0.8, Verdict::reverted)};
  EXPECT_LT(of_a(in).effect, 0) << "what is fast in a scan alone is remembered";
}

TEST(Predictor, AScanBesideAnEarlierIncumbentCountsWhereTheIncumbentWasScannedBesideItToo) {
  ResearchInputs in = promising();
  in.scanned = {fixtures::scan("a", "earlier", 3)};
  EXPECT_EQ(of_a(in).band.source, PredictionSource::idea);
  in.scanned.push_back(fixtures::scan("simple", "earlier", 2));
  EXPECT_NEAR(of_a(in).effect, std::log(1.5), 1e-9);
  in.scanned.front().source_hash = "another text";
  EXPECT_EQ(of_a(in).band.source, PredictionSource::idea);
}

// The path from one to the other counts: here not the distance of both from what they were measured beside first.
TEST(Predictor, WhatTwoScansHaveInCommonCancels) {
  ResearchInputs in = promising();
  in.scanned = {fixtures::scan("root", "root", 1), fixtures::scan("simple", "root", 8),
                fixtures::scan("a", "simple", 1.1)};
  in.scanned[1].times.sd = 0.9;
  EXPECT_NEAR(of_a(in).effect, std::log(1.1), 1e-9);
  EXPECT_LT(of_a(in).sd, 0.1);
  in.scanned.push_back(fixtures::scan("a", "root", 10));
  in.scanned.push_back(fixtures::scan("simple", "a", 0.8));
  EXPECT_NEAR(of_a(in).effect, std::log(1.25), 1e-9) << "the newest way from one to the other";
}

// Of the standard deviation of a verdict about a scan of 1.5x.
double deviation_after(Target target, const std::vector<double>& verdicts) {
  ResearchInputs in = promising();
  in.diagnosis.incumbent.target = target;
  in.scanned = {fixtures::scan("a", "simple", 1.5), fixtures::scan("b", "simple", 1.5)};
  in.variants.push_back(variant("b", "x"));
  for (const double verdict : verdicts) {
    in.past.push_back(result(std::ssize(in.past) + 1, "b", "simple", verdict, Verdict::accepted));
  }
  return of_a(in).sd;
}

TEST(Predictor, ScansAreTrustedAsVerdictsAboutThemTeach) {
  EXPECT_LT(deviation_after(Target::cuda, {}), deviation_after(Target::host, {}));
  const double before = deviation_after(Target::host, {});
  EXPECT_NEAR(deviation_after(Target::host, std::vector<double>(3, 3.0)), before, 0.5 * before) << "three are not all";
  EXPECT_GT(deviation_after(Target::host, std::vector<double>(100, 3.0)), 0.5);
  EXPECT_LT(deviation_after(Target::host, std::vector<double>(100, 1.5)), 0.5 * before);
}

TEST(Predictor, ResultsThatWereNotTimedOrAreNotFiniteSayNothing) {
  PastResult untimed = result(1, "a", "simple", 0.5, Verdict::reverted);
  untimed.timed = false;
  PastResult broken = result(2, "a", "simple", 0.5, Verdict::reverted);
  broken.effect = std::nan("");
  const PastResult itself = result(3, "a", "a", 1, Verdict::reverted);
  EXPECT_DOUBLE_EQ(of_a(promising({untimed, broken, itself})).effect, of_a(promising()).effect);
}

TEST(Predictor, OfTwentyThousandExperimentsTheNewestCount) {
  ResearchInputs in = promising();
  in.variants[0].variant.tunables = {{.name = "K", .values = {0}}};
  for (int number = 1; number <= 20'000; ++number) {
    in.past.push_back(result(number, "a", "simple", number <= 19'000 ? 2.0 : 1.25, Verdict::accepted));
    in.past.back().candidate.settings = {{"K", number % 300}};
  }
  EXPECT_NEAR(of_a(in).effect, std::log(1.25), 0.02);
}

}  // namespace
}  // namespace apo
