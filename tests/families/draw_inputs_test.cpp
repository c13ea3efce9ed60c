// tests/families/draw_inputs_test.cpp - each regime within the declared range, and which mistakes it alone shows.
#include "harness/families/draw_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "kernels/encode.h"

namespace apo {
namespace {

constexpr std::int64_t kRows = 32;
constexpr std::int64_t kCols = 64;

std::vector<double> drawn(const std::string& regime, const Distribution& distribution = {}, DType dtype = DType::f32) {
  return decode(dtype, draw_input(distribution, dtype, {kRows, kCols}, 9, 5, regime, 1));
}

double magnitude(double x) {
  return std::fabs(x);
}

TEST(Regimes, OfOffsetsOrderAndRepetitionDrawWhatTheirNamesSay) {
  for (const auto& [regime, middle] : {std::pair("offset", 100.0), std::pair("negative_offset", -100.0)}) {
    const std::vector<double> values = drawn(regime);
    EXPECT_GT(std::ranges::min(values), middle - 7) << regime;
    EXPECT_LT(std::ranges::max(values), middle + 7) << regime;
  }
  const std::vector<double> narrow = drawn("largest", {}, DType::e4m3);
  EXPECT_GE(magnitude(std::ranges::min(narrow, {}, magnitude)), 224);
  EXPECT_LE(magnitude(std::ranges::max(narrow, {}, magnitude)), 448);
  const std::vector<double> sorted = drawn("sorted");
  const std::vector<double> repeated = drawn("repeated");
  const std::vector<double> close = drawn("close");
  std::set<bool> ascends;
  for (std::int64_t row = 0; row < kRows; ++row) {
    const auto of = [&](const std::vector<double>& values) {
      return std::vector<double>(values.begin() + row * kCols, values.begin() + (row + 1) * kCols);
    };
    const bool up = std::ranges::is_sorted(of(sorted));
    EXPECT_TRUE(up || std::ranges::is_sorted(of(sorted), std::greater<>()));
    ascends.insert(up);
    const std::vector<double> of_few = of(repeated);
    EXPECT_EQ(std::set(of_few.begin(), of_few.end()).size(), 3u);
    const auto [low, high] = std::ranges::minmax(of(close));
    EXPECT_LT(high - low, 0.1);
    EXPECT_GT(high - low, 0);
  }
  EXPECT_EQ(ascends.size(), 2u) << "rows in both orders";
}

TEST(Regimes, SortedRowsHoldTheDrawnNumbersOfEachDtypeShortAndLong) {
  for (const DType dtype : kDTypes) {
    for (const std::int64_t cols : {1, 5, 300}) {
      const Distribution distribution{.kind = is_float(dtype) ? DistributionKind::normal : DistributionKind::index};
      const auto values = [&](const std::string& regime) {
        return decode(dtype, draw_input(distribution, dtype, {2, cols}, 1, 7, regime, 2));
      };
      std::vector<double> typical = values("typical");
      std::vector<double> sorted = values("sorted");
      for (const std::int64_t row : {0, 1}) {
        const auto ends = [&](std::vector<double>& of) {
          return std::ranges::subrange(of.begin() + row * cols, of.begin() + (row + 1) * cols);
        };
        std::ranges::sort(ends(typical));
        EXPECT_TRUE(std::ranges::is_sorted(ends(sorted)) || std::ranges::is_sorted(ends(sorted), std::greater<>()));
        std::ranges::sort(ends(sorted));
      }
      EXPECT_EQ(sorted, typical) << to_string(dtype) << ", " << cols;
    }
  }
}

TEST(Regimes, HaveTheSpecialValuesOfTheContractAndNoOthers) {
  const std::vector<double> masked = drawn("special", {.special = {.minus_infinity = true}});
  std::set<std::int64_t> counts;
  for (std::int64_t row = 0; row < kRows; ++row) {
    counts.insert(std::count(masked.begin() + row * kCols, masked.begin() + (row + 1) * kCols, -INFINITY));
  }
  EXPECT_TRUE(counts.contains(0) && counts.contains(1) && counts.contains(kCols) && counts.size() > 3);
  EXPECT_TRUE(std::ranges::none_of(masked, [](double x) { return std::isnan(x) || x == INFINITY; }));
  const std::vector<double> zeros = drawn("special", {.special = {.signed_zero = true}});
  EXPECT_TRUE(std::ranges::any_of(zeros, [](double x) { return x == 0 && std::signbit(x); }));
  EXPECT_EQ(drawn("special"), drawn("typical")) << "a contract that speaks of none";
}

TEST(Regimes, ChangeAnInputOrAreNotNamedForIt) {
  for (const DistributionKind kind : {DistributionKind::normal, DistributionKind::positive,
                                      DistributionKind::probability, DistributionKind::mask, DistributionKind::index}) {
    const Distribution distribution{.kind = kind};
    for (const std::string& regime : known_regimes()) {
      const bool differs = drawn(regime, distribution) != drawn("typical", distribution);
      EXPECT_EQ(differs, regime != "typical" && changes(regime, distribution, DType::f32))
          << regime << " of kind " << static_cast<int>(kind);
    }
  }
  EXPECT_FALSE(changes("wide", {.kind = DistributionKind::function}, DType::f32));
}

TEST(Regimes, AreTheSameForAnyNumberOfThreads) {
  for (const std::string& regime : known_regimes()) {
    EXPECT_EQ(draw_input({}, DType::f32, {300, 64}, 0, 5, regime, 1),
              draw_input({}, DType::f32, {300, 64}, 0, 5, regime, 3))
        << regime;
  }
}

TEST(Regimes, StayWithinTheRangeThatADistributionDeclares) {
  const auto within = [](const Distribution& distribution, double low, double high) {
    for (const std::string& regime : known_regimes()) {
      const std::vector<double> values = drawn(regime, distribution, DType::f64);
      EXPECT_GE(std::ranges::min(values), low) << regime;
      EXPECT_LE(std::ranges::max(values), high) << regime;
    }
  };
  within({.kind = DistributionKind::uniform, .first = 0.01, .second = 0.5}, 0.01, 0.5);
  within({.kind = DistributionKind::uniform, .first = -3, .second = -1}, -3, -1);
  within({.kind = DistributionKind::probability}, 0, 1);
  within({.kind = DistributionKind::mask}, 0, 1);
  within({.kind = DistributionKind::index}, 0, 9);
  within({.kind = DistributionKind::positive}, 0x1p-21, INFINITY);
}

TEST(Regimes, MasksAndIndicesStayWhole) {
  for (const DistributionKind kind : {DistributionKind::mask, DistributionKind::index}) {
    for (const std::string& regime : known_regimes()) {
      EXPECT_TRUE(std::ranges::all_of(drawn(regime, {.kind = kind}), [](double x) { return x == std::floor(x); }))
          << regime;
    }
  }
}

TEST(Regimes, DrawWhatTheirNamesSay) {
  const std::vector<double> zero_rows = drawn("zero_rows");
  std::set<bool> is_zero;
  for (std::int64_t row = 0; row < kRows; ++row) {
    is_zero.insert(zero_rows[static_cast<std::size_t>(row * kCols)] == 0);
  }
  EXPECT_EQ(is_zero.size(), 2u) << "rows of zeros stand beside others";
  const std::vector<double> extreme = drawn("extreme");
  EXPECT_GE(std::ranges::min(extreme, {}, magnitude), 0) << "signs differ";
  EXPECT_GE(magnitude(std::ranges::min(extreme, {}, magnitude)), 45);
  EXPECT_GT(std::ranges::max(extreme), 190);
  const std::vector<double> equal = drawn("equal");
  EXPECT_EQ(std::ranges::min(equal), std::ranges::max(equal));
  const std::vector<double> alternating = drawn("alternating");
  for (std::size_t i = 0; i < alternating.size(); ++i) {
    EXPECT_EQ(alternating[i] > 0, i % 2 == 0);
  }
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    const DTypeFacts facts = facts_of(dtype);
    const double normal = facts.smallest * std::exp2(facts.precision - 1);
    EXPECT_LT(magnitude(std::ranges::max(drawn("denormal", {}, dtype), {}, magnitude)), normal);
    EXPECT_GT(magnitude(std::ranges::max(drawn("denormal", {}, dtype), {}, magnitude)), facts.smallest);
  }
}

// ---------------------------------------------------------------- what each is for

using Row = std::function<void(const float* x, float* y)>;

bool same(float right, float other) {
  return std::fabs(right - other) <= 1e-4F * std::fabs(right) + 1e-6F;
}

// Whether a mistake shows on inputs of this regime: in a result that is not finite, or another one.
bool shows(const Row& right, const Row& mistaken, const std::string& regime) {
  const std::vector<double> values = drawn(regime);
  const std::vector<float> x(values.begin(), values.end());
  bool differs = false;
  for (std::int64_t row = 0; row < kRows; ++row) {
    std::vector<float> expected(kCols), actual(kCols);
    right(&x[static_cast<std::size_t>(row * kCols)], expected.data());
    mistaken(&x[static_cast<std::size_t>(row * kCols)], actual.data());
    differs |= !std::ranges::equal(expected, actual, same);  // NaN is equal to nothing
  }
  return differs;
}

Row softmax(bool shifted) {
  return [shifted](const float* x, float* y) {
    const float largest = shifted ? *std::max_element(x, x + kCols) : 0;
    float sum = 0;
    for (std::int64_t c = 0; c < kCols; ++c) {
      sum += y[c] = std::exp(x[c] - largest);
    }
    std::for_each(y, y + kCols, [&](float& value) { value /= sum; });
  };
}

Row normalised(float epsilon) {
  return [epsilon](const float* x, float* y) {
    float squares = 0;
    std::for_each(x, x + kCols, [&](float value) { squares += value * value; });
    const float scale = 1 / std::sqrt(squares / kCols + epsilon);
    std::transform(x, x + kCols, y, [&](float value) { return value * scale; });
  };
}

// The place of the first largest element; a mistaken one takes the last.
Row place_of_largest(bool last) {
  return [last](const float* x, float* y) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < kCols; ++c) {
      best = x[c] > x[best] || (last && x[c] == x[best]) ? c : best;
    }
    std::fill(y, y + kCols, static_cast<float>(best));
  };
}

// The change from the first to the last element; a mistaken one has none where every sign differs from the one before.
Row swings(bool mistaken) {
  return [mistaken](const float* x, float* y) {
    float swing = 0;
    bool steady = false;
    for (std::int64_t c = 1; c < kCols; ++c) {
      steady |= x[c] * x[c - 1] > 0;
      swing += x[c] - x[c - 1];
    }
    std::fill(y, y + kCols, mistaken && !steady ? 0 : swing);
  };
}

Row times_a_power(bool flushed) {
  return [flushed](const float* x, float* y) {
    std::transform(x, x + kCols, y,
                   [&](float value) { return flushed && std::fabs(value) < 0x1p-126F ? 0 : value * 0x1p120F; });
  };
}

TEST(Regimes, ShowMistakesThatTypicalInputsDoNot) {
  struct Mistake {
    const char* regime;
    Row right;
    Row mistaken;
  };
  for (const Mistake& one :
       {Mistake{"zero_rows", normalised(1e-6F), normalised(0)}, Mistake{"extreme", softmax(true), softmax(false)},
        Mistake{"equal", place_of_largest(false), place_of_largest(true)},
        Mistake{"alternating", swings(false), swings(true)},
        Mistake{"denormal", times_a_power(false), times_a_power(true)}}) {
    EXPECT_FALSE(shows(one.right, one.mistaken, "typical")) << one.regime;
    EXPECT_TRUE(shows(one.right, one.mistaken, one.regime)) << one.regime;
  }
}

}  // namespace
}  // namespace apo
