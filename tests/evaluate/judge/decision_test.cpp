// tests/evaluate/judge/decision_test.cpp - the order of the looks, the confirmation, and the rule's properties.
#include "harness/evaluate/judge/decision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/normal.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "tests/evaluate/judge/rounds.h"

namespace apo {
namespace {

using Phase = Decision::Phase;

// `count` effects round `centre` with normal quantiles of spread `sd`: no chance involved.
std::vector<double> spread(int count, double centre, double sd) {
  std::vector<double> effects;
  for (int i = 0; i < count; ++i) {
    effects.push_back(centre + sd * normal_quantile((i + 0.5) / count));
  }
  return effects;
}

Decision fresh(const JudgePreset& preset = standard_preset()) {
  return {preset, preset.confirm_alpha};
}

// Feeds as many as are wanted.
void feed(Decision& decision, const std::vector<double>& effects) {
  for (std::size_t i = 0; i < effects.size() && decision.phase() != Phase::finished; ++i) {
    decision.add(effects[i]);
  }
}

// Feeds the search stage from one list and the confirmation from another.
Decision decide(const std::vector<double>& search, const std::vector<double>& confirmation,
                const JudgePreset& preset = standard_preset()) {
  Decision decision = fresh(preset);
  for (std::size_t i = 0; i < search.size() && decision.phase() == Phase::search; ++i) {
    decision.add(search[i]);
  }
  feed(decision, decision.phase() == Phase::confirm ? confirmation : std::vector<double>());
  return decision;
}

TEST(Decision, WhereTheNoiseWasNotKnownBeforeThatOfMostRoundsLimitsTheClaim) {
  JudgePreset preset = preset_for_unknown_spread(LayoutControl::redrawn);
  const std::vector<double> search = spread(14, 0.2, 0.05);
  std::vector<double> confirmation;
  for (int i = 0; i < 90; ++i) {
    confirmation.push_back(i % 2 == 0 ? 0.005 : 0.1);
  }
  Decision decision = decide(search, confirmation, preset);
  EXPECT_EQ(decision.reason(), Reason::noisy) << "claims 5 % where most rounds differ by twice that";
  EXPECT_GT(decision.minimum_claim(), 0.0525);
  EXPECT_LT(decision.minimum_claim(), 0.2);
  preset.claims_by_rounds = false;
  EXPECT_EQ(decide(search, confirmation, preset).verdict(), Verdict::accepted);

  preset.claims_by_rounds = true;
  confirmation = spread(90, 0.08, 0.005);
  confirmation.front() = -9;  // one call that took 8000 times as long: an ordinary sd would refuse any claim below 80 %
  decision = decide(spread(14, 0.08, 0.005), confirmation, preset);
  EXPECT_EQ(decision.verdict(), Verdict::accepted);
  EXPECT_EQ(decision.minimum_claim(), 0);
}

// ---------------------------------------------------------------- the stages

TEST(Decision, AsksForTheRoundsOfTheNextLookAndDecidesNothingBefore) {
  Decision decision = fresh();
  for (int wanted = 14; wanted > 0; --wanted) {
    EXPECT_EQ(decision.rounds_wanted(), wanted);
    EXPECT_EQ(decision.rounds_planned(), 14);
    EXPECT_EQ(decision.phase(), Phase::search);
    decision.add(10.0);
  }
  EXPECT_EQ(decision.phase(), Phase::confirm);
}

TEST(Decision, ClearGainIsConfirmedInFreshRoundsAndAccepted) {
  Decision decision = fresh();
  feed(decision, spread(14, 0.05, 0.005));
  ASSERT_EQ(decision.phase(), Phase::confirm);
  EXPECT_EQ(decision.rounds_wanted(), 14);
  EXPECT_EQ(decision.verdict(), Verdict::inconclusive);
  feed(decision, spread(14, 0.05, 0.005));
  EXPECT_EQ(decision.phase(), Phase::finished);
  EXPECT_EQ(decision.verdict(), Verdict::accepted);
  EXPECT_EQ(decision.reason(), Reason::faster);
}

TEST(Decision, EachEndHasItsVerdictAndReason) {
  struct Stage {
    int rounds;
    double centre, sd;
  };
  JudgePreset noisy = extended_preset();
  noisy.minimum_claim = 0.03;
  const struct {
    const char* what;
    Stage search, confirmation;
    Verdict verdict;
    Reason reason;
    JudgePreset preset = standard_preset();
  } cases[] = {
      {"a gain that does not come back", {14, 0.05, 0.005}, {22, 0, 0.005}, Verdict::reverted, Reason::confirm_failed},
      {"significant and below the margin", {38, 0.0029, 0}, {0, 0, 0}, Verdict::reverted, Reason::equivalent},
      {"a loss", {14, -0.02, 0.005}, {0, 0, 0}, Verdict::reverted, Reason::regression},
      {"a sure loss inside the margin", {14, -0.002, 0.0005}, {0, 0, 0}, Verdict::reverted, Reason::equivalent},
      {"no difference", {14, 0, 0.002}, {0, 0, 0}, Verdict::reverted, Reason::equivalent},
      {"no gain that is worth it", {14, 0, 0.010}, {0, 0, 0}, Verdict::reverted, Reason::no_gain},
      {"below what this machine claims",
       {14, 0.02, 0.001},
       {90, 0.02, 0.001},
       Verdict::inconclusive,
       Reason::noisy,
       noisy},
      {"above it", {14, 0.04, 0.001}, {90, 0.04, 0.001}, Verdict::accepted, Reason::faster, noisy},
      {"a third of a percent", {14, 0.003, 0.0003}, {22, 0.003, 0.0003}, Verdict::reverted, Reason::equivalent},
      {"the same, precisely",
       {14, 0.003, 0.0003},
       {22, 0.003, 0.0003},
       Verdict::accepted,
       Reason::faster,
       precise_preset()},
  };
  for (const auto& one : cases) {
    const auto effects = [](const Stage& stage) { return spread(stage.rounds, stage.centre, stage.sd); };
    const Decision decision = decide(effects(one.search), effects(one.confirmation), one.preset);
    EXPECT_EQ(decision.verdict(), one.verdict) << one.what;
    EXPECT_EQ(decision.reason(), one.reason) << one.what;
  }
}

TEST(Decision, ConfirmedGainBelowTheMarginIsReverted) {
  // Its lower bound is above 0, its estimate below 0.3 %.
  Decision decision = decide(spread(14, 0.05, 0.005), spread(22, 0.0028, 0.0005));
  EXPECT_GT(WalshAverages(decision.confirmation()).lower(0.01), 0);
  EXPECT_EQ(decision.reason(), Reason::confirm_failed);
}

TEST(Decision, ConfirmationGetsAsManyRoundsAsItsSpreadNeeds) {
  const auto rounds = [](double centre, double sd) {
    Decision decision = fresh();
    feed(decision, spread(14, centre, sd));
    return std::pair(decision.phase(), decision.rounds_planned());
  };
  EXPECT_EQ(rounds(0.02, 0.001), std::pair(Phase::confirm, 14));
  Decision decision = fresh();
  const std::vector<double> effects = spread(14, 0.02, 0.008);
  feed(decision, effects);
  ASSERT_EQ(decision.phase(), Phase::confirm);
  const double target = std::max(0.01, WalshAverages(effects).lower(0.001));
  const double needed = std::ceil(std::pow(6.5 * standard_deviation(effects) / target, 2));
  EXPECT_GT(needed, 14);
  EXPECT_EQ(decision.rounds_planned(), std::min(22, static_cast<int>(needed)));
}

TEST(Decision, ExtendedProfileConfirmsWithUpToNinetyRounds) {
  JudgePreset preset = extended_preset();
  Decision decision = fresh(preset);
  Random random(4);
  feed(decision, normals(random, 128, 0.02, 0.03));
  ASSERT_NE(decision.phase(), Phase::search);
  EXPECT_TRUE(decision.phase() == Phase::finished || decision.rounds_planned() > 22);
}

TEST(Decision, BudgetThatRunsOutIsInconclusive) {
  Random random(3);
  Decision decision = decide(normals(random, 38, 0.006, 0.03), {});
  EXPECT_EQ(decision.search().size(), 38u);
  EXPECT_EQ(decision.verdict(), Verdict::inconclusive);
  EXPECT_EQ(decision.reason(), Reason::unresolved);
}

TEST(Decision, AcceptComesBeforeRegressionAndFutilityAtALook) {
  // A gain just inside the design effect: L > m and U < 1 % both hold, and the accept is looked at first.
  Decision decision = fresh();
  feed(decision, std::vector<double>(14, 0.008));
  EXPECT_EQ(decision.phase(), Phase::confirm);
}

// ---------------------------------------------------------------- properties

TEST(DecisionProperty, EffectsThatAreNoNumbersAreRefusedAndNotCounted) {
  for (const double bad :
       {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    Decision decision = fresh();
    feed(decision, std::vector<double>(13, 0.05));
    EXPECT_THROW(decision.add(bad), UserError);
    EXPECT_EQ(decision.rounds_wanted(), 1);
    EXPECT_EQ(decision.phase(), Phase::search);
  }
}

TEST(DecisionProperty, NegatedEffectsOfAnAcceptedCandidateAreNeverAccepted) {
  Random random(11);
  int accepted = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> search = normals(random, 38, random.uniform(-0.02, 0.02), 0.008);
    std::vector<double> confirm = normals(random, 22, search[0], 0.008);
    const Verdict verdict = decide(search, confirm).verdict();
    for (std::vector<double>* effects : {&search, &confirm}) {
      std::ranges::transform(*effects, effects->begin(), std::negate());
    }
    const Verdict mirrored = decide(search, confirm).verdict();
    EXPECT_FALSE(verdict == Verdict::accepted && mirrored == Verdict::accepted);
    accepted += verdict == Verdict::accepted ? 1 : 0;
  }
  EXPECT_GT(accepted, 100);
}

TEST(DecisionProperty, OrderOfTheRoundsWithinALookChangesNothing) {
  Random random(12);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> search = normals(random, 38, random.uniform(-0.01, 0.02), 0.008);
    std::vector<double> confirm = normals(random, 22, 0.008, 0.008);
    const Decision before = decide(search, confirm);
    int start = 0;
    for (const Look& look : standard_preset().looks) {
      std::reverse(search.begin() + start, search.begin() + look.rounds);
      start = look.rounds;
    }
    const int planned = static_cast<int>(before.confirmation().size());
    std::reverse(confirm.begin(), confirm.begin() + planned);
    const Decision after = decide(search, confirm);
    EXPECT_EQ(before.reason(), after.reason());
    EXPECT_EQ(before.search().size(), after.search().size());
    EXPECT_EQ(before.confirmation().size(), after.confirmation().size());
  }
}

// A larger effect may pass an earlier look, whose own spread then sets the number of fresh rounds. So the claim that
// holds without exception is: the search passes again, and the same fresh rounds accept again.
TEST(DecisionProperty, AFasterCandidateIsNeverRejectedWhereASlowerOneWasAccepted) {
  Random random(13);
  int accepted = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> search = normals(random, 38, random.uniform(0.005, 0.02), 0.008);
    std::vector<double> confirm = normals(random, 22, search[0], 0.008);
    const Decision before = decide(search, confirm);
    if (before.verdict() != Verdict::accepted) {
      continue;
    }
    ++accepted;
    const double more = random.uniform(0, 0.02);
    for (std::vector<double>* effects : {&search, &confirm}) {
      std::for_each(effects->begin(), effects->end(), [&](double& effect) { effect += more; });
    }
    const Decision after = decide(search, confirm);
    EXPECT_TRUE(after.reason() == Reason::faster || after.reason() == Reason::confirm_failed);
    EXPECT_LE(after.search().size(), before.search().size());
    if (after.confirmation().size() == before.confirmation().size()) {
      EXPECT_EQ(after.verdict(), Verdict::accepted);
    }
  }
  EXPECT_GT(accepted, 100);
}

double acceptance_at_minimum(double sd) {
  Random random(14);
  const double effect = minimum_detectable_effect(standard_preset(), 0.01, sd);
  int accepted = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Decision decision = decide(normals(random, 38, effect, sd), normals(random, 22, effect, sd));
    accepted += decision.verdict() == Verdict::accepted ? 1 : 0;
  }
  return static_cast<double>(accepted) / kTrials;
}

TEST(MinimumDetectableEffect, IsFoundInAboutNinetyFiveOfAHundred) {
  for (const double sd : {0.01, 0.02, 0.03}) {
    EXPECT_NEAR(acceptance_at_minimum(sd), 0.95, 0.04) << sd;
  }
}

TEST(MinimumDetectableEffect, IsRougherBelowTheDesignEffectWhereOneLookDecides) {
  for (const double sd : {0.001, 0.002, 0.005}) {
    EXPECT_GT(acceptance_at_minimum(sd), 0.75) << sd;
  }
}

TEST(MinimumDetectableEffect, GrowsWithTheSpread) {
  EXPECT_NEAR(minimum_detectable_effect(standard_preset(), 0.01, 0), 0.003, 1e-12);
  EXPECT_NEAR(minimum_detectable_effect(standard_preset(), 0.01, 0.03), 0.0025 + 0.85 * 0.03, 0.003);
}

TEST(Decision, TheQuickPresetRanksAfterSixRoundsAndNeverDecides) {
  for (const double effect : {0.5, 0.0, -0.5}) {
    Decision decision = fresh(quick_preset());
    feed(decision, spread(20, effect, 0.001));
    EXPECT_EQ(decision.search().size(), 6U);
    EXPECT_EQ(decision.phase(), Phase::finished);
    EXPECT_EQ(decision.verdict(), Verdict::inconclusive) << effect;
    EXPECT_EQ(decision.reason(), Reason::ranked) << effect;
  }
  Decision confirmation(quick_preset(), 0.01, 14);
  feed(confirmation, spread(14, 0.5, 0.001));
  EXPECT_EQ(confirmation.reason(), Reason::ranked) << "a confirmation alone accepts as little";
}

TEST(Decision, SixRoundsAreTheFewestThatHaveTheQuickPresetsInterval) {
  const JudgePreset preset = quick_preset();
  const std::vector<double> six = spread(6, 0.1, 0.01);
  EXPECT_DOUBLE_EQ(WalshAverages(six).lower(preset.interval_alpha), *std::ranges::min_element(six));
  EXPECT_DOUBLE_EQ(WalshAverages(six).upper(preset.interval_alpha), *std::ranges::max_element(six));
  EXPECT_TRUE(std::isinf(WalshAverages(spread(5, 0.1, 0.01)).lower(preset.interval_alpha)));
  EXPECT_EQ(any_preset_named("quick").name, "quick");
  EXPECT_THROW(preset_named("quick"), UserError) << "it is no preset for a verdict";
}

}  // namespace
}  // namespace apo
