// tests/research/prediction/effects_test.cpp - the estimate against values that follow by hand.
#include "harness/research/prediction/effects.h"

#include <gtest/gtest.h>

#include <cmath>

namespace apo {
namespace {

double share(const Estimate& estimate, Basis basis) {
  return estimate.share[static_cast<std::size_t>(basis)];
}

TEST(EffectNetwork, OneStatementIsReadInBothDirections) {
  const EffectNetwork network(2, {{.from = 0, .to = 1, .effect = 0.4, .sd = 0.1, .basis = Basis::here}});
  EXPECT_NEAR(network.difference(0, 1).effect, 0.4, 1e-4);
  EXPECT_NEAR(network.difference(1, 0).effect, -0.4, 1e-4);
  EXPECT_NEAR(network.difference(0, 1).sd, 0.1, 1e-4);
  EXPECT_NEAR(share(network.difference(0, 1), Basis::here), 1, 1e-9);
}

TEST(EffectNetwork, AChainAddsAndItsUncertaintyGrowsInSquares) {
  const EffectNetwork network(
      3, {{.from = 0, .to = 1, .effect = 0.4, .sd = 0.03}, {.from = 1, .to = 2, .effect = -0.1, .sd = 0.04}});
  EXPECT_NEAR(network.difference(0, 2).effect, 0.3, 1e-4);
  EXPECT_NEAR(network.difference(0, 2).sd, 0.05, 1e-4);
}

// Weights 1/0.01 and 1/0.04: the mean is (4 x 1 + 1 x 2) / 5, its standard deviation 0.2 / sqrt(5).
TEST(EffectNetwork, TwoStatementsCountByTheirVariances) {
  const EffectNetwork network(2, {{.from = 0, .to = 1, .effect = 1, .sd = 0.1, .basis = Basis::here},
                                  {.from = 0, .to = 1, .effect = 2, .sd = 0.2, .basis = Basis::author}});
  const Estimate estimate = network.difference(0, 1);
  EXPECT_NEAR(estimate.effect, 1.2, 1e-3);
  EXPECT_NEAR(estimate.sd, 0.2 / std::sqrt(5), 1e-4);
  EXPECT_NEAR(share(estimate, Basis::here), 0.8, 1e-3);
  EXPECT_NEAR(share(estimate, Basis::author), 0.2, 1e-3);
}

TEST(EffectNetwork, AComparisonOutweighsALongChain) {
  std::vector<StatedEffect> statements = {{.from = 0, .to = 5, .effect = -0.2, .sd = 0.02, .basis = Basis::here}};
  for (std::size_t i = 0; i < 5; ++i) {
    statements.push_back({.from = i, .to = i + 1, .effect = 0.3, .sd = 0.2});
  }
  const EffectNetwork network(6, std::move(statements));
  EXPECT_NEAR(network.difference(0, 5).effect, -0.2, 0.02);
  EXPECT_NEAR(network.difference(4, 5).effect, 0.3 - 1.7 / 5, 0.02) << "the chain gives way, all of it alike";
}

TEST(EffectNetwork, WhatNoStatementLeadsToIsNotConnected) {
  const EffectNetwork network(4, {{.from = 0, .to = 1, .effect = 1, .sd = 0.1}, {.from = 2, .to = 3, .effect = 1}});
  EXPECT_TRUE(network.difference(0, 1).connected);
  EXPECT_FALSE(network.difference(0, 3).connected);
  EXPECT_TRUE(network.difference(3, 3).connected);
}

TEST(EffectNetwork, NamesTheExperimentsThatCarryTheEstimate) {
  const EffectNetwork network(3,
                              {{.from = 0, .to = 1, .effect = 1, .sd = 0.01, .basis = Basis::here, .experiment = 7},
                               {.from = 0, .to = 1, .effect = 1, .sd = 0.5, .basis = Basis::here, .experiment = 8},
                               {.from = 0, .to = 2, .effect = 1, .sd = 0.01, .basis = Basis::here, .experiment = 9}});
  EXPECT_EQ(network.difference(0, 1).experiments, std::vector<std::int64_t>{7});
}

// Exact repetitions would make the matrix singular.
TEST(EffectNetwork, CertaintyIsHeldToTheSharpestThatCanBe) {
  const EffectNetwork network(
      2, {{.from = 0, .to = 1, .effect = 0.1, .sd = 0}, {.from = 1, .to = 0, .effect = -0.1, .sd = 0}});
  EXPECT_NEAR(network.difference(0, 1).effect, 0.1, 1e-6);
  EXPECT_GT(network.difference(0, 1).sd, 0);
}

}  // namespace
}  // namespace apo
