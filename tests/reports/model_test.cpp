// tests/reports/model_test.cpp - what the model claims, and what it refuses to claim.
#include "reports/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/random.h"
#include "reports/numbers.h"
#include "reports/proposals.h"
#include "reports/render.h"
#include "tests/reports/fixture.h"

namespace apo::report {
namespace {

using fixture::realistic_campaign;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ReportModel, ExperimentsComeByIndexWhateverTheOrderOfTheRecords) {
  CampaignRecords records = realistic_campaign();
  std::reverse(records.experiments.begin(), records.experiments.end());
  const ReportModel model = build_model(records);
  ASSERT_EQ(model.experiments.size(), 5U);
  for (std::size_t i = 0; i < model.experiments.size(); ++i) {
    EXPECT_EQ(model.experiments[i].index, static_cast<int>(i) + 1);
  }
  EXPECT_EQ(render_markdown(model, {}), render_markdown(build_model(realistic_campaign()), {}));
}

TEST(ReportModel, NaiveProductIsTheProductOfTheAcceptedEffects) {
  const ReportModel model = build_model(realistic_campaign());
  EXPECT_NEAR(std::exp(model.naive_effect), 1.34 * 1.21, 1e-9);
  EXPECT_EQ(model.incumbent, "e88_backward/adaptive_threads[THREADS=2]");
  ASSERT_EQ(model.trajectory.size(), 6U);
  EXPECT_NEAR(std::exp(model.trajectory[3].candidate), 1.34 * std::exp(-0.031), 1e-9);
  EXPECT_NEAR(std::exp(model.trajectory[3].cumulative), 1.34, 1e-9);
}

TEST(ReportModel, ClaimIsTheFinalIncumbentsCertificationUnderTheCampaignsCachePolicy) {
  const ReportModel model = build_model(realistic_campaign());
  ASSERT_TRUE(model.claim);
  EXPECT_EQ(model.claim->cache_policy, CachePolicy::cold);
  EXPECT_NEAR(std::exp(model.claim->effect), 1.60, 1e-9);
  EXPECT_TRUE(contains(render_markdown(model, {}), "**1.600x [1.589x, 1.611x] n=38** rounds (99.8 % interval)"));
}

TEST(ReportModel, ClaimOfAClockCoupledIncumbentIsThatOfItsSoloRuns) {
  CampaignRecords records = realistic_campaign();
  records.certifications[0].clock = records.certifications[1].clock;
  const std::string report = render_markdown(build_model(records), {});
  EXPECT_TRUE(contains(report, "**1.660x [1.652x, 1.668x] n=24** solo runs (96.9 % interval)"));
  EXPECT_TRUE(contains(report, "**Clock-coupled:** alone"));
  EXPECT_TRUE(contains(report, "rounds in which the arms take turns gave 1.600x [1.589x, 1.611x]"));
  records.certifications[0].clock = ClockCoupling{.missing = "no PMU"};
  EXPECT_TRUE(contains(render_markdown(build_model(records), {}),
                       "But whether the final incumbent changes the clock is not known: no PMU."));
}

TEST(ReportModel, CertificationOfAnEarlierIncumbentIsNoClaim) {
  CampaignRecords records = realistic_campaign();
  for (Certification& certification : records.certifications) {
    certification.incumbent = {.variant = "e88_backward/chunk_prefetch", .settings = {{"CHUNK", 16}}};
  }
  const ReportModel model = build_model(records);
  EXPECT_FALSE(model.claim);
  EXPECT_TRUE(contains(render_markdown(model, {}), "Not certified yet"));
  EXPECT_TRUE(contains(render_json(model), "\"claim\": null"));
}

TEST(ReportModel, WarmCertificationIsNoClaimOfAColdCampaign) {
  CampaignRecords records = realistic_campaign();
  records.certifications.erase(records.certifications.begin());
  EXPECT_FALSE(build_model(records).claim);
}

TEST(ReportModel, CertificationThatWasNotMeasuredIsNoClaim) {
  CampaignRecords records = realistic_campaign();
  records.certifications[0].effect = kNotMeasured;
  EXPECT_FALSE(build_model(records).claim);
}

TEST(ReportModel, IntervalAcrossOneClaimsNoSpeedup) {
  CampaignRecords records = realistic_campaign();
  records.certifications[0].effect = 0.001;
  records.certifications[0].lower = -0.004;
  records.certifications[0].upper = 0.006;
  EXPECT_TRUE(contains(render_markdown(build_model(records), {}), "no speed-up over the baseline has been shown"));
}

TEST(ReportModel, AWithdrawnAcceptIsNoIncumbent) {
  CampaignRecords records = realistic_campaign();
  for (const Experiment& experiment : records.experiments) {
    if (experiment.index == 4) {
      records.withdrawn = {experiment.id};
    }
  }
  const ReportModel model = build_model(records);
  EXPECT_EQ(model.incumbent, "e88_backward/chunk_prefetch[CHUNK=16]");
  EXPECT_FALSE(model.trajectory[1].withdrawn);
  EXPECT_TRUE(model.trajectory[4].withdrawn);
  EXPECT_NEAR(std::exp(model.naive_effect), 1.34, 1e-9);
}

TEST(ReportModel, WhereAllAcceptsAreWithdrawnTheBaselineStands) {
  CampaignRecords records = realistic_campaign();
  records.certifications[1].alarm = true;
  for (const Experiment& experiment : records.experiments) {
    records.withdrawn.insert(experiment.id);
  }
  const ReportModel model = build_model(records);
  EXPECT_EQ(model.incumbent, "e88_backward/simple");
  EXPECT_TRUE(contains(render_markdown(model, {}), "No accept stands"));
}

TEST(ReportModel, RollBackShowsInTheTrajectory) {
  CampaignRecords records = realistic_campaign();
  for (Experiment& experiment : records.experiments) {
    if (experiment.index == 5) {
      experiment.incumbent = {.variant = "e88_backward/chunk_prefetch", .settings = {{"CHUNK", 16}}};
      experiment.incumbent_source_hash = "source of e88_backward/chunk_prefetch";
    }
  }
  const ReportModel model = build_model(records);
  EXPECT_NEAR(std::exp(model.trajectory.back().cumulative), 1.34, 1e-9);
  EXPECT_TRUE(contains(render_markdown(model, {}), "rolled back"));
}

TEST(ReportModel, AcceptedEditUnderTheBaselinesOwnNameIsAnImprovement) {
  CampaignRecords records = realistic_campaign();
  for (Experiment& experiment : records.experiments) {
    experiment.candidate = experiment.incumbent = records.campaign.baseline;
    experiment.candidate_source_hash = "edit " + std::to_string(experiment.index);
    experiment.incumbent_source_hash = experiment.index == 1 ? "original" : experiment.index < 5 ? "edit 1" : "edit 4";
  }
  const ReportModel model = build_model(records);
  EXPECT_TRUE(model.improved);
  EXPECT_NEAR(std::exp(model.naive_effect), 1.34 * 1.21, 1e-9);
  EXPECT_TRUE(contains(render_markdown(model, {}), "Not certified yet"));
}

TEST(ReportModel, CandidateThatWasNeverTimedHasNoEffect) {
  const ReportModel model = build_model(realistic_campaign());
  const Experiment& incorrect = model.experiments[1];
  EXPECT_FALSE(has_effect(incorrect));
  EXPECT_EQ(measured_text(incorrect), "not measured");
  EXPECT_TRUE(std::isnan(model.trajectory[2].candidate));
}

TEST(ReportModel, EffectThatIsNoNumberIsNotMeasured) {
  Experiment experiment = build_model(realistic_campaign()).experiments[0];
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double effect : {kNotMeasured, infinity, -infinity, 1e300}) {
    experiment.judgement->effect = effect;
    EXPECT_FALSE(has_effect(experiment)) << effect;
  }
}

TEST(ReportModel, MissingBoundIsSaidAndNeverZero) {
  CampaignRecords records = realistic_campaign();
  for (Experiment& experiment : records.experiments) {
    if (experiment.judgement) {
      experiment.judgement->lower = kNotMeasured;
    }
  }
  EXPECT_TRUE(contains(render_markdown(build_model(records), {}), "1.34x, too few rounds for an interval"));
}

TEST(ReportModel, AcceptWithoutANumberMakesTheProductUnknown) {
  CampaignRecords records = realistic_campaign();
  for (Experiment& experiment : records.experiments) {
    if (experiment.index == 1) {
      experiment.judgement->effect = kNotMeasured;
    }
  }
  const ReportModel model = build_model(records);
  EXPECT_TRUE(std::isnan(model.naive_effect));
  EXPECT_TRUE(contains(render_markdown(model, {}), "effects, not measured, is not a measurement"));
}

TEST(ReportModel, PredictionsAreScoredOnMeasuredCandidatesOnly) {
  const ReportModel model = build_model(realistic_campaign());
  EXPECT_EQ(model.prediction_score.predicted, 4);
  EXPECT_EQ(model.prediction_score.scored, 3);
  EXPECT_EQ(model.prediction_score.inside, 2);
  EXPECT_FALSE(model.predictions[1].inside);
}

// Four over one incumbent, predicted in the order in which they came out; 1 of 24 orders is that one.
TEST(ReportModel, TheOrderOfPredictionsIsHeldAgainstChance) {
  std::vector<PredictionOutcome> outcomes;
  for (const double gain : {1.1, 1.2, 1.3, 1.4}) {
    outcomes.push_back(
        {.incumbent = "f/a", .prediction = {.low = gain - 0.1, .high = gain + 0.1}, .effect = std::log(gain)});
  }
  outcomes.push_back({.incumbent = "f/b", .prediction = {.low = 2, .high = 3}, .effect = 0});
  outcomes.push_back({.incumbent = "f/b", .prediction = {.low = 4, .high = 5}});  // not timed
  const PredictionScore score = score_predictions(outcomes);
  EXPECT_EQ(score.pairs, 6);
  EXPECT_EQ(score.right_pairs, 6);
  EXPECT_NEAR(score.chance, 1.0 / 24, 0.02);
  EXPECT_EQ(score.predicted, 6);
  EXPECT_EQ(score.scored, 5);
  std::swap(outcomes[0].effect, outcomes[3].effect);
  std::swap(outcomes[1].effect, outcomes[2].effect);
  EXPECT_EQ(score_predictions(outcomes).right_pairs, 0);
  EXPECT_EQ(score_predictions(outcomes).chance, 1);
}

TEST(ReportModel, SearchEffectIsMarkedAsSuch) {
  const ReportModel model = build_model(realistic_campaign());
  EXPECT_EQ(effect_stage(model.experiments[0]), RoundStage::confirm);
  EXPECT_EQ(effect_stage(model.experiments[2]), RoundStage::search);
  EXPECT_TRUE(contains(render_markdown(model, {}), "n=22, search only"));
}

TEST(ReportModel, UnfinishedExperimentOfAnOpenCampaignIsUnderWay) {
  CampaignRecords records = realistic_campaign();
  records.campaign.state = CampaignState::open;
  for (Experiment& experiment : records.experiments) {
    experiment.abandoned.clear();
  }
  const ReportModel model = build_model(records);
  EXPECT_EQ(model.under_way.size(), 1U);
  EXPECT_TRUE(model.abandoned.empty());
}

TEST(ReportModel, SeedOfAnOpenCampaignStaysSecretInEveryFormat) {
  CampaignRecords records = realistic_campaign();
  records.campaign.state = CampaignState::open;
  const ReportModel model = build_model(records);
  for (const Format format : {Format::markdown, Format::html, Format::json}) {
    EXPECT_FALSE(contains(render(model, format), "8675309"));
  }
  EXPECT_TRUE(contains(render(build_model(realistic_campaign()), Format::markdown), "8675309"));
}

TEST(ReportModel, LastEventIsTheLatestTimeInTheRecords) {
  EXPECT_EQ(build_model(realistic_campaign()).last_event_at, "2025-03-04T10:20:00Z");
}

TEST(ReportNumbers, DecimalsFollowTheInterval) {
  EXPECT_EQ(effect_text(std::log(1.53), std::log(1.50), std::log(1.56)), "1.53x [1.50x, 1.56x]");
  EXPECT_EQ(effect_text(std::log(1.0123), std::log(1.0043), std::log(1.0203)), "1.012x [1.004x, 1.020x]");
  EXPECT_EQ(effect_text(std::log(1.0015), std::log(1.0013), std::log(1.0017)), "1.0015x [1.0013x, 1.0017x]");
}

TEST(ReportNumbers, ABandHasTwoRatiosOfOneForm) {
  EXPECT_EQ(band_text({.low = 1.0512, .high = 2.24, .because = "x"}), "1.05x to 2.24x");
  EXPECT_EQ(ratio_text(std::log(42.57)), "42.6x");
}

TEST(ReportNumbers, WhatHasNoValueReadsNotMeasured) {
  EXPECT_EQ(ratio_text(kNotMeasured), "not measured");
  EXPECT_EQ(time_text(kNotMeasured), "not measured");
  EXPECT_EQ(time_text(0), "not measured");
  EXPECT_EQ(percent_text(kNotMeasured), "not measured");
  EXPECT_EQ(metric_text({.name = "x", .value = kNotMeasured, .unit = "ns"}), "not measured");
  EXPECT_EQ(roof_text({.name = "x", .value = 0, .unit = "flop/s"}), "not measured");
  EXPECT_EQ(band_text({}), "not predicted");
  EXPECT_EQ(band_text({.low = kNotMeasured, .high = 2}), "not predicted");
}

TEST(ReportModel, EachProposalIsInOneClass) {
  CampaignRecords records = realistic_campaign();
  const auto taken = [](const Configuration& configuration) {
    return Proposal{.author = "me", .configuration = configuration};
  };
  std::vector<Proposal> proposals;
  for (const Experiment& experiment : records.experiments) {
    proposals.push_back(taken(experiment.candidate));
  }
  const Configuration judged = records.experiments.front().candidate;
  proposals.push_back(taken({"e88_backward/waits_1a2b3c4d", {}}));
  proposals.push_back(
      {.author = "me", .configuration = judged, .state = ProposalState::repeated, .why = "line 2: known"});
  proposals.push_back(
      {.author = "other", .configuration = {}, .state = ProposalState::refused, .why = "line 3: no JSON"});
  records.proposer_calls = {{.command = "mutate", .proposals = proposals}};
  const ReportModel model = build_model(records);
  const ProposalCounts counts = count_proposals(model);
  EXPECT_EQ(counts.proposed, static_cast<int>(proposals.size()));
  EXPECT_EQ(counts.proposed, counts.refused + counts.repeated + counts.not_judged + counts.judged());
  EXPECT_EQ(counts.refused, 1);
  EXPECT_EQ(counts.repeated, 1) << "what it repeats was judged, and it was not";
  EXPECT_EQ(counts.not_judged, 2) << "one waits, and the judgement of another was killed";
  EXPECT_EQ(counts.accepted, 2);
  EXPECT_EQ(counts.wrong + counts.not_accepted, 3);
  const std::string report = render_markdown(model, {});
  EXPECT_TRUE(contains(report, "| author | proposed | refused | repeated | not judged | judged | accepted | wrong |"))
      << report;
  EXPECT_TRUE(contains(report, "| `other` | 1 | 1 | 0 | 0 | 0 | 0 | 0 |")) << report;
  EXPECT_TRUE(contains(report, "refused: line 3: no JSON")) << report;
}

constexpr double kZ = 2.326348;  // of a 98 % interval

Judgement judged(double effect, double error) {
  return {.effect = effect, .lower = effect - kZ * error, .upper = effect + kZ * error, .confidence = 0.98};
}

TEST(Shrinkage, AnEffectOfTenErrorsKeepsAllButAHundredth) {
  EXPECT_NEAR(shrunken_effect(judged(0.10, 0.01)), 0.099, 1e-6);
  EXPECT_NEAR(shrunken_effect(judged(kZ * 0.01, 0.01)), kZ * 0.01 * 0.8152, 1e-6);
}

TEST(Shrinkage, NothingIsLeftOfAnEffectBelowItsErrorAndSignsStay) {
  EXPECT_EQ(shrunken_effect(judged(0.005, 0.01)), 0);
  EXPECT_EQ(shrunken_effect(judged(0, 0.01)), 0);
  EXPECT_LT(shrunken_effect(judged(-0.1, 0.01)), -0.09);
}

TEST(Shrinkage, WithoutAnIntervalThereIsNoNumber) {
  Judgement open = judged(0.1, 0.01);
  open.lower = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(shrunken_effect(open)));
  EXPECT_TRUE(std::isnan(shrunken_effect(judged(std::nan(""), 0.01))));
}

// Many small gains, of which the lucky ones are accepted: the shrunken sum is nearer to the truth than the naive one.
TEST(Shrinkage, OfTheLuckyOnesIsNearerToTheTruth) {
  Random random(3);
  const double error = 0.004;
  double truth = 0;
  double naive = 0;
  double shrunken = 0;
  for (int i = 0; i < 20000; ++i) {
    const double gain = 0.004 * random.normal();
    const double seen = gain + error * random.normal();
    if (seen > kZ * error) {
      truth += gain;
      naive += seen;
      shrunken += shrunken_effect(judged(seen, error));
    }
  }
  EXPECT_GT(naive, 1.3 * truth);
  EXPECT_LT(std::fabs(shrunken - truth), 0.8 * std::fabs(naive - truth));
}

}  // namespace
}  // namespace apo::report
