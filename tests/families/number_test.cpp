// tests/families/number_test.cpp - the number types: what each does to an operation.
#include "kernels/oracle/number.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/oracle/mutant.h"
#include "kernels/oracle/request.h"

namespace apo::oracle {
namespace {

using Noisy = Perturbed<24, double>;

template <class Make>
double spread(double exact, Make make, int samples = 4000) {
  random_state = 12345;
  double squares = 0;
  for (int i = 0; i < samples; ++i) {
    sample_seed = static_cast<std::uint64_t>(i);
    const double error = make().value - exact;
    squares += error * error;
  }
  return std::sqrt(squares / samples);
}

// A uniform error of one ulp has sigma ulp / sqrt(12); near 1 an ulp of binary32 is 2^-23.
TEST(Perturbed, AnAdditionIsOffByTheRoundingOfBinary32) {
  const double sigma = spread(1.5, [] { return Noisy(1.0) + Noisy(0.5 + 0x1p-30); });
  EXPECT_NEAR(sigma, 0x1p-23 / std::sqrt(12.0), 0x1p-23 / std::sqrt(12.0) / 10);
  EXPECT_NEAR(spread(1.5, [] { return exp(Noisy(std::log(1.5))); }), 8 * sigma, sigma);
}

TEST(Perturbed, WhatBinary32HoldsIsExact) {
  EXPECT_EQ(spread(1.5, [] { return Noisy(1.0) + Noisy(0.5); }), 0);
  EXPECT_EQ(spread(0.5, [] { return Noisy(0.25) * Noisy(2.0); }), 0);
  EXPECT_GT(spread(0x1p-130, [] { return Noisy(0x1p-100) * Noisy(0x1p-30); }), 0) << "hardware may flush it";
}

TEST(Perturbed, ASumThatCancelsIsOffByFourUlpsOfItsTerms) {
  const double sigma = 8 * 0x1p-23 / std::sqrt(12.0);
  EXPECT_NEAR(spread(0, [] { return Noisy(1.5) - Noisy(1.5); }), sigma, sigma / 10);
  EXPECT_NEAR(spread(0.25, [] { return Noisy(1.5) + Noisy(-1.25); }), sigma, sigma / 10);
  EXPECT_EQ(spread(1.5, [] { return Noisy(1.5) - Noisy(0.0); }), 0);
  EXPECT_EQ(spread(0, [] { return Noisy(0.0) - Noisy(0.0); }), 0);
}

// Of 2048 times the same number binary32 rounds every sum one way, up to half an ulp each; of others at random.
TEST(Perturbed, SumsOfEqualTermsErrAsThoseOfHardware) {
  constexpr int kTerms = 2048;
  const auto added = [](auto term) {
    auto total = term;
    for (int i = 1; i < kTerms; ++i) {
      total += term;
    }
    return total;
  };
  double most = 0;
  double noise = 0;
  for (int i = 0; i < 20; ++i) {
    const float term = 0.11F + 0.001F * static_cast<float>(i);
    const double exact = static_cast<double>(term) * kTerms;
    most = std::max(most, std::fabs(static_cast<double>(added(term)) - exact) / exact);
    noise = std::max(noise, spread(
                                exact, [&] { return added(Noisy(static_cast<double>(term))); }, 100) /
                                exact);
  }
  EXPECT_GT(most, 64 * 0x1p-24) << "at random it is about 10";
  EXPECT_GT(noise, most / 2.2);
  EXPECT_LT(noise, 4 * most);
}

TEST(Perturbed, ASumInAnyOrderHasEachTermOnce) {
  for (const int count : {0, 1, 2, 37}) {
    EXPECT_EQ(
        spread(count * (count + 1) / 2, [&] { return sum<Noisy>(count, [](std::int64_t i) { return Noisy(i + 1); }); }),
        0)
        << count;
  }
}

TEST(Perturbed, AnInputMayBeFlushedAndIsElseExact) {
  EXPECT_EQ(spread(0.1, [] { return Noisy::given(0.1); }), 0);
  EXPECT_EQ(spread(0, [] { return Noisy::given(0); }), 0);
  EXPECT_GT(spread(0x1p-130, [] { return Noisy::given(0x1p-130); }), 0x1p-130);
}

TEST(Perturbed, WhatTheContractRoundsMayBeOffByThatMuch) {
  EXPECT_NEAR(spread(1, [] { return rounded<bf16>(Noisy(1.001)); }), 0x1p-8 / std::sqrt(3.0), 0x1p-8 / 10);
  EXPECT_NEAR(spread(1, [] { return approximate<11>(Noisy(1.0)); }), 0x1p-11 / std::sqrt(3.0), 0x1p-11 / 10);
  EXPECT_EQ(rounded<bf16>(1.003f), 1.0f);
  EXPECT_EQ(rounded<bf16>(1.003), 1.003);
  EXPECT_EQ(spread(1, [] { return rounded<bf16>(Noisy(1.0)); }), 0) << "bf16 holds it";
}

TEST(Perturbed, ZeroStaysZeroAndNearTiesGoEitherWay) {
  EXPECT_EQ((Noisy(0.0) * Noisy(3.0)).value, 0);
  random_state = 7;
  int below = 0;
  for (int i = 0; i < 200; ++i) {
    below += decided(Noisy(1.0), Noisy(1.0 + 0x1p-24)) ? 1 : 0;
  }
  EXPECT_GT(below, 20);
  EXPECT_LT(below, 180);
  EXPECT_TRUE(decided(1.0, 1.0 + 0x1p-24));
}

TEST(Counted, OperationsSpecialFunctionsAndTheirChain) {
  counts = {};
  const Counted x = 0.5;
  const Counted y = tanh(exp(x) + x * x) / (x - 1);
  (void)y;
  EXPECT_EQ(counts.flops, 3);
  EXPECT_EQ(counts.special["exp"], 1);
  EXPECT_EQ(counts.special["tanh"], 1);
  EXPECT_EQ(counts.special["division"], 1);
  EXPECT_EQ(counts.longest_special_chain, 2);
}

TEST(Mistaken, OneTermIsDroppedOrHasTheWrongSign) {
  const auto total = []<Mistake kMistake>() {
    additions = 0;
    wrong_addition = 2;
    Mistaken<kMistake> sum = 0;
    for (int i = 1; i <= 4; ++i) {
      sum += Mistaken<kMistake>(i);
    }
    return sum.value;
  };
  EXPECT_EQ(total.operator()<Mistake::dropped_term>(), 7);
  EXPECT_EQ(total.operator()<Mistake::wrong_sign>(), 4);
}

TEST(Units, PartsAndTheirRunsCoverATensorOnce) {
  const Contract contract{.axes = {5, 7},
                          .scalars = {},
                          .tensors = {{.is_output = true, .extents = {5, 7}, .axis = {0, 1}, .beyond = {0, 0}}},
                          .unit_axes = {{.axis = 0, .block = 2}, {.axis = 1, .block = 3}},
                          .units = {}};
  ASSERT_EQ(unit_count(contract), 9);
  std::vector<int> seen(35);
  for (std::int64_t unit = 0; unit < 9; ++unit) {
    for_each_run(contract.tensors[0], part_of(contract, unit), [&](std::int64_t offset, std::int64_t count) {
      for (std::int64_t i = offset; i < offset + count; ++i) {
        ++seen[static_cast<std::size_t>(i)];
      }
    });
  }
  EXPECT_EQ(seen, std::vector<int>(35, 1));
}

TEST(Units, EachGroupSplitsTheWorkForItsOwnOutputs) {
  const Contract contract{.axes = {5, 7},
                          .scalars = {},
                          .tensors = {{.is_output = true, .extents = {5}, .axis = {0}, .beyond = {0}, .group = 0},
                                      {.is_output = true, .extents = {7}, .axis = {1}, .group = 1}},
                          .groups = 2,
                          .unit_axes = {{.axis = 0, .block = 2}, {.axis = 1, .block = 3, .group = 1}},
                          .units = {}};
  ASSERT_EQ(unit_count(contract), 3 + 3);
  const Part last = part_of(contract, 5);
  EXPECT_EQ(last.count, (std::vector<std::int64_t>{5, 1})) << "the last of seven, and all of the other axis";
  EXPECT_FALSE(belongs(contract.tensors[0], last));
  EXPECT_TRUE(belongs(contract.tensors[1], last));
}

TEST(Units, AnEmptyTensorHasNoRuns) {
  const TensorShape empty{.is_output = true, .extents = {3, 0}, .axis = {-1, -1}};
  for_each_run(empty, Part{}, [](std::int64_t, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace apo::oracle
