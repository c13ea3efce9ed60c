// tests/evaluate/judge/signed_rank_test.cpp - the published table, brute force, and hostile input.
#include "harness/evaluate/judge/signed_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/normal.h"
#include "kernels/random.h"

namespace apo {
namespace {

struct Row {
  int n;
  double alpha;
  int critical;
  int k;
  double tail;
};

// spec/measurement.md section 2.3: every row.
constexpr Row kTable[] = {
    {14, 0.001, 99, 7, 0.000854},      {22, 0.002, 213, 41, 0.001836},     {30, 0.003, 364, 102, 0.002888},
    {38, 0.004, 551, 191, 0.003981},   {14, 0.004, 94, 12, 0.003357},      {22, 0.004, 207, 47, 0.003722},
    {30, 0.004, 360, 106, 0.003806},   {14, 0.005, 93, 13, 0.004272},      {38, 0.005, 547, 195, 0.004782},
    {14, 0.010, 90, 16, 0.008301},     {16, 0.010, 113, 24, 0.009125},     {18, 0.010, 139, 33, 0.009117},
    {20, 0.010, 167, 44, 0.009617},    {22, 0.010, 198, 56, 0.009478},     {60, 0.001, 1329, 502, 0.000981},
    {90, 0.001, 2808, 1288, 0.000993}, {128, 0.001, 5418, 2839, 0.000999},
};

const std::vector<double> kVector = {1.10, .35, .92, -.20, 1.80, .66, 1.21, .48, .05, 1.33, .77, .99, 1.52, .61};

// P(W+ >= w) by going through all sign patterns.
double brute_force_tail(int n, int w) {
  int hits = 0;
  for (int signs = 0; signs < (1 << n); ++signs) {
    int sum = 0;
    for (int rank = 1; rank <= n; ++rank) {
      sum += ((signs >> (rank - 1)) & 1) * rank;
    }
    hits += sum >= w ? 1 : 0;
  }
  return std::ldexp(hits, -n);
}

TEST(SignedRank, EveryRowOfThePublishedTableIsReproduced) {
  for (const Row& row : kTable) {
    EXPECT_EQ(signed_rank_critical(row.n, row.alpha), row.critical) << row.n << " " << row.alpha;
    EXPECT_EQ(row.n * (row.n + 1) / 2 - signed_rank_critical(row.n, row.alpha) + 1, row.k);
    EXPECT_NEAR(signed_rank_tail(row.n, row.critical), row.tail, 5e-7);
  }
}

TEST(SignedRank, BoundIsTheKthWalshAverageOfTheTable) {
  for (const Row& row : kTable) {
    std::vector<double> effects;
    Random random(static_cast<std::uint64_t>(row.n));
    for (int i = 0; i < row.n; ++i) {
      effects.push_back(random.normal());
    }
    std::vector<double> averages;
    for (std::size_t i = 0; i < effects.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        averages.push_back((effects[i] + effects[j]) / 2);
      }
    }
    const double bound = WalshAverages(effects).lower(row.alpha);
    int not_above = 0;
    for (const double average : averages) {
      not_above += average <= bound ? 1 : 0;
    }
    EXPECT_EQ(not_above, row.k);
  }
}

TEST(SignedRank, PublishedVectorGivesThePublishedBounds) {
  const WalshAverages averages(kVector);
  EXPECT_NEAR(averages.hodges_lehmann(), .8400, 1e-12);
  EXPECT_NEAR(averages.lower(.001), .2050, 1e-12);
  EXPECT_NEAR(averages.lower(.01), .4100, 1e-12);
  EXPECT_NEAR(averages.upper(.004), 1.3100, 1e-12);
}

TEST(SignedRank, TailIsThatOfAllSignPatterns) {
  for (int n = 1; n <= 11; ++n) {
    for (int w = 0; w <= n * (n + 1) / 2 + 1; ++w) {
      EXPECT_NEAR(signed_rank_tail(n, w), brute_force_tail(n, w), 1e-14) << n << " " << w;
    }
  }
}

TEST(SignedRank, TailOfAThousandIsStillADistribution) {
  EXPECT_NEAR(signed_rank_tail(kMaxSignedRank, 0), 1, 1e-9);
  EXPECT_NEAR(signed_rank_tail(kMaxSignedRank, kMaxSignedRank * (kMaxSignedRank + 1) / 4), 0.5, 1e-3);
}

TEST(SignedRank, LevelThatTooFewEffectsCannotGiveIsUnattainable) {
  EXPECT_EQ(signed_rank_critical(6, 0.01), 22);  // 2^-6 > 0.01
  EXPECT_EQ(signed_rank_critical(7, 0.01), 28);  // 2^-7 < 0.01: only if all are positive
  const std::vector<double> effects = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(WalshAverages(effects).lower(0.01), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(WalshAverages(effects).upper(0.01), std::numeric_limits<double>::infinity());
}

TEST(SignedRank, LowerBoundIsAboveZeroExactlyWhenTheTestRejects) {
  Random random(5);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> effects;
    for (int i = 0; i < 14; ++i) {
      effects.push_back(random.normal() + 0.7);
    }
    const WalshAverages averages(effects);
    // p counts both sides, so level .02 is .01 each side.
    EXPECT_EQ(averages.lower(0.01) > 0 || averages.upper(0.01) < 0, averages.two_sided_p() <= 0.02);
  }
}

TEST(SignedRank, UpperBoundMirrorsTheLowerOne) {
  std::vector<double> negated;
  for (const double effect : kVector) {
    negated.push_back(-effect);
  }
  EXPECT_EQ(WalshAverages(negated).upper(.01), -WalshAverages(kVector).lower(.01));
}

TEST(SignedRank, ZerosAndTiesOnlyMakeTheTestMoreCautious) {
  const std::vector<double> zeros(20, 0.0);
  EXPECT_EQ(WalshAverages(zeros).two_sided_p(), 1);
  EXPECT_FALSE(WalshAverages(zeros).lower(0.001) > 0);
}

TEST(SignedRank, EffectsThatAreNoNumbersAreRefused) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(WalshAverages(std::vector<double>{1, bad, 2}), UserError);
  }
  EXPECT_THROW(WalshAverages(std::vector<double>{}), UserError);
  EXPECT_THROW(WalshAverages(std::vector<double>(kMaxSignedRank + 1, 1.0)), UserError);
}

TEST(SignedRank, NormalQuantileIsTheTabulatedOne) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232, 1e-6);
}

TEST(SignedRank, SpreadDoesNotDependOnTheOrder) {
  std::vector<double> reversed(kVector.rbegin(), kVector.rend());
  EXPECT_EQ(standard_deviation(kVector), standard_deviation(reversed));
  EXPECT_NEAR(standard_deviation(std::vector<double>{1, 2, 3, 4}), std::sqrt(5.0 / 3), 1e-15);
}

}  // namespace
}  // namespace apo
