// tests/evaluate/judge/gate_decision_test.cpp - the rule of `apo gate` over chosen and over drawn effects.
#include "harness/evaluate/judge/gate/gate_decision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/random.h"

namespace apo {
namespace {

using Effects = std::vector<std::vector<double>>;

const double kMargin = std::log1p(0.02);

GateRule rule() {
  return {.margin = kMargin, .looks = standard_preset().looks};
}

// `rounds` effects spread evenly over centre +- half_width.
std::vector<double> evenly_spread(double centre, double half_width, int rounds) {
  std::vector<double> effects;
  for (int i = 0; i < rounds; ++i) {
    // Neighbours lie on both sides of the centre, so that the first look sees the same spread as the last.
    const double at = static_cast<double>((i * 11) % rounds) / (rounds - 1);
    effects.push_back(centre + half_width * (2 * at - 1));
  }
  return effects;
}

TEST(GateDecision, OneLookPassesWhatIsInsideTheMarginAndFailsWhatIsBeyondIt) {
  const struct {
    double centre, half_width;
    GateAnswer answer;
  } cases[] = {{0, 0.005, GateAnswer::passed},
               {0.5, 0.1, GateAnswer::passed},  // a gain, however noisy
               {-0.01, 0.003, GateAnswer::passed},
               {-0.05, 0.005, GateAnswer::regressed}};
  for (const auto& one : cases) {
    const GateState state = gate_state(rule(), {evenly_spread(one.centre, one.half_width, 14)});
    EXPECT_EQ(state.answer, one.answer) << one.centre;
    EXPECT_TRUE(state.finished) << one.centre;
    EXPECT_EQ(state.workloads[0].rounds, 14) << one.centre;
    EXPECT_EQ(state.workloads[0].lower > -kMargin, one.answer == GateAnswer::passed) << one.centre;
    EXPECT_EQ(state.workloads[0].upper < -kMargin, one.answer == GateAnswer::regressed) << one.centre;
  }
}

TEST(GateDecision, LooksOnlyAtItsRoundsAndSaysHowManyAreMissing) {
  EXPECT_EQ(gate_state(rule(), {{}}).rounds_wanted, 14);
  const GateState before = gate_state(rule(), {evenly_spread(0, 0.001, 13)});
  EXPECT_EQ(before.answer, GateAnswer::undecided);
  EXPECT_EQ(before.rounds_wanted, 1);
  EXPECT_EQ(before.workloads[0].rounds, 0);
}

TEST(GateDecision, NoiseWiderThanTheMarginIsUndecidedAfterTheLastLook) {
  const GateState between = gate_state(rule(), {evenly_spread(0, 0.3, 37)});
  EXPECT_EQ(between.rounds_wanted, 1);
  const GateState last = gate_state(rule(), {evenly_spread(0, 0.3, 38)});
  EXPECT_EQ(last.answer, GateAnswer::undecided);
  EXPECT_TRUE(last.finished);
  EXPECT_EQ(last.workloads[0].rounds, 38);
}

TEST(GateDecision, TheAnswerOfAnEarlierLookStands) {
  std::vector<double> effects = evenly_spread(0, 0.005, 14);
  effects.resize(22, -0.5);
  EXPECT_EQ(gate_state(rule(), {effects}).answer, GateAnswer::passed);
  EXPECT_EQ(gate_state(rule(), {effects}).workloads[0].rounds, 14);
}

TEST(GateDecision, OneSlowWorkloadAmongFastOnesRegresses) {
  EXPECT_EQ(gate_state(rule(), {evenly_spread(0.3, 0.01, 14), evenly_spread(-0.05, 0.01, 14)}).answer,
            GateAnswer::regressed);
}

TEST(GateDecision, AllWorkloadsHaveToPass) {
  const GateState state = gate_state(rule(), {evenly_spread(0, 0.005, 14), evenly_spread(0, 0.3, 14)});
  EXPECT_EQ(state.answer, GateAnswer::undecided);
  EXPECT_EQ(state.workloads[0].answer, GateAnswer::passed);
  EXPECT_EQ(state.workloads[1].answer, GateAnswer::undecided);
  EXPECT_EQ(state.rounds_wanted, 8);
}

TEST(GateDecision, ManyWorkloadsCannotFailBeforeSoFewRoundsCanShowIt) {
  // 0.001 / 17 is rarer than 14 effects of one sign.
  const Effects effects(17, evenly_spread(-0.05, 0.001, 14));
  const GateState state = gate_state(rule(), effects);
  EXPECT_EQ(state.answer, GateAnswer::undecided);
  EXPECT_EQ(state.workloads[0].upper, std::numeric_limits<double>::infinity());
}

TEST(GateDecision, EveryProfilesLooksSpendOnePercent) {
  for (const JudgePreset& preset : {standard_preset(), extended_preset(), strict_preset()}) {
    EXPECT_NEAR((GateRule{.margin = kMargin, .looks = preset.looks}.alpha()), 0.01, 1e-12) << preset.name;
  }
}

// ---------------------------------------------------------------- simulation

// Student's t with 2 degrees of freedom: symmetric, without a variance.
double heavy(Random& random) {
  const double chi_square = -2 * std::log(random.uniform());
  return random.normal() / std::sqrt(chi_square / 2);
}

struct Rates {
  double passed = 0;
  double regressed = 0;
};

template <class Draw>
Rates simulate(double effect, std::size_t workloads, Draw draw) {
  constexpr int kTrials = 4000;
  Random random(20261);
  Rates rates;
  for (int trial = 0; trial < kTrials; ++trial) {
    Effects effects(workloads);
    GateState state = gate_state(rule(), effects);
    while (!state.finished) {
      for (int i = 0; i < state.rounds_wanted; ++i) {
        for (std::vector<double>& one : effects) {
          one.push_back(effect + draw(random));
        }
      }
      state = gate_state(rule(), effects);
    }
    rates.passed += state.answer == GateAnswer::passed ? 1.0 / kTrials : 0;
    rates.regressed += state.answer == GateAnswer::regressed ? 1.0 / kTrials : 0;
  }
  return rates;
}

// Three standard errors of a rate of 1 % over 4000 trials.
const double kMost = 0.01 + 3 * std::sqrt(0.01 * 0.99 / 4000);

TEST(GateSimulation, FalseAlarmsAtTheMarginStayBelowAlpha) {
  const auto white = [](Random& random) { return 0.01 * random.normal(); };
  const auto tails = [](Random& random) { return 0.01 * heavy(random); };
  for (const std::size_t workloads : {std::size_t{1}, std::size_t{3}}) {
    EXPECT_LE(simulate(-kMargin, workloads, white).regressed, kMost) << workloads;
    EXPECT_LE(simulate(-kMargin, workloads, tails).regressed, kMost) << workloads;
  }
}

TEST(GateSimulation, ARegressionOfExactlyTheMarginIsLetThroughBelowAlpha) {
  EXPECT_LE(simulate(-kMargin, 1, [](Random& random) { return 0.01 * random.normal(); }).passed, kMost);
  EXPECT_LE(simulate(-kMargin, 1, [](Random& random) { return 0.01 * heavy(random); }).passed, kMost);
}

TEST(GateSimulation, UnchangedCodeNeverFailsAndTwiceTheMarginIsFound) {
  const auto white = [](Random& random) { return 0.01 * random.normal(); };
  const Rates same = simulate(0, 1, white);
  EXPECT_EQ(same.regressed, 0);
  EXPECT_GT(same.passed, 0.99);
  EXPECT_GT(simulate(-2 * kMargin, 1, white).regressed, 0.99);
}

}  // namespace
}  // namespace apo
