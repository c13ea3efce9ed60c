// tests/families/large_inputs_test.cpp - what a reference reads and computes of a large workload.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "harness/families/draw_inputs.h"
#include "harness/families/known_families.h"
#include "harness/runtime/tensor_data.h"
#include "tests/families/family_text.h"

namespace apo {
namespace {

using oracle::Mode;

// A look-up, whose table is converted before a call where it is small.
constexpr const char* kLookUp =
    "// apo:family look_up\n// apo:axis n 1..64\n// apo:axis rows 1..65536\n// apo:input i i32[n] index(0..99)\n"
    "// apo:input table f32[rows,64] normal\n// apo:input scale f32[1] normal\n// apo:output y f32[n,64]\n"
    "// apo:unit n\n// apo:workload a ragged n=7 rows=100\n"
    "template <class Real>\n"
    "void reference(int64_t n, int64_t rows, const int64_t* i, const Real* table, const Real* scale, Real* y) {\n"
    "  for (int64_t k = 0; k < n; ++k)\n"
    "    for (int64_t c = 0; c < 64; ++c) y[k * 64 + c] = table[i[k] * 64 + c] * scale[0] + Real(0.1) / scale[0];\n"
    "}\n";

TEST(LargeInputs, ALookUpConvertsWhatItReadsAndGivesWhatItGivesOfASmallTable) {
  const OracleProgram program(parse_family(kLookUp, "look_up.h"), test_oracle());
  for (const std::string regime : {"typical", "denormal"}) {
    const auto ask = [&](std::int64_t rows, int threads) {
      const Axes axes = {{"n", 7}, {"rows", rows}};
      const auto drawn = [&](DType dtype, Distribution distribution, std::vector<std::int64_t> extents) {
        return draw_input(distribution, dtype, extents, 99, 5, dtype == DType::i32 ? "typical" : regime, 1);
      };
      const TensorBytes bytes = {{"i", drawn(DType::i32, {.kind = DistributionKind::index}, {7})},
                                 {"table", drawn(DType::f32, {}, {rows, 64})},
                                 {"scale", encode(DType::f32, {3.0})}};
      const StoredTensors stored(bytes.begin(), bytes.end());
      return program.ask({.mode = Mode::expected,
                          .axes = axes,
                          .units = {0, 3},
                          .stored = &stored,
                          .threads = threads,
                          .of_units = true});
    };
    const OracleAnswer small = ask(100, 1);
    const OracleAnswer large = ask(60000, 1);
    EXPECT_EQ(large.outputs, small.outputs);
    EXPECT_EQ(ask(60000, 3).noise, large.noise);
    if (regime == "typical") {
      EXPECT_EQ(large.noise, small.noise);
    }
    EXPECT_GT(large.noise.at("y").front(), 0);
    EXPECT_LT(large.numbers, 60000 * 64 / 8) << "of 36 runs, which each converted all of it";
  }
}

TEST(LargeInputs, NumbersThatWerePushedOutAreReadAgain) {
  const OracleProgram program(
      parse_family("// apo:family spread\n// apo:axis n 1..8000000\n// apo:input x f32[n] normal\n"
                   "// apo:output y f32[3]\n// apo:workload a ragged n=7\n"
                   "template <class Real> void reference(int64_t n, const Real* x, Real* y) {\n"
                   "  Real total = 0, squares = 0;\n"
                   "  for (int pass = 0; pass < 20; ++pass) for (int64_t i = 0; i < n; ++i) total += x[i];\n"
                   "  for (int64_t i = 0; i < n; ++i) squares += x[i] * x[i];\n"
                   "  y[0] = total; y[1] = squares; y[2] = x[0] + x[n - 1];\n}\n",
                   "spread.h"),
      test_oracle());
  constexpr std::int64_t kCount = 5000003;
  const std::vector<double> x = decode(DType::f32, draw_input({}, DType::f32, {kCount}, 0, 5, "typical", 2));
  const TensorMap values = {{"x", x}};
  const std::vector<double> y = program.ask({.axes = {{"n", kCount}}, .units = {}, .values = &values}).outputs.at("y");
  double total = 0;
  for (int pass = 0; pass < 20; ++pass) {
    total = std::accumulate(x.begin(), x.end(), total);
  }
  EXPECT_EQ(y[0], total);
  EXPECT_EQ(y[1], std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  EXPECT_EQ(y[2], x.front() + x.back());
}

TEST(LargeInputs, TheWholeReferenceAndTheNoiseOfSomeUnitsAreOneRequest) {
  const OracleProgram program(parse_family(kSoftmax, "softmax.h"), test_oracle());
  const Axes axes = {{"cols", 100}, {"rows", 7}};
  const TensorMap values = {{"x", decode(DType::f32, draw_input({}, DType::f32, {7, 100}, 0, 5, "typical", 1))}};
  const auto ask = [&](Mode mode, std::vector<std::int64_t> units, bool whole) {
    return program.ask(
        {.mode = mode, .axes = axes, .units = std::move(units), .values = &values, .of_units = true, .whole = whole});
  };
  const OracleAnswer both = ask(Mode::expected, {1, 5}, true);
  const OracleAnswer some = ask(Mode::expected, {1, 5}, false);
  EXPECT_EQ(both.outputs, some.outputs);
  EXPECT_EQ(both.noise, some.noise);
  EXPECT_EQ(both.whole, program.ask({.axes = axes, .units = {}, .values = &values}).outputs);
  EXPECT_EQ(both.outputs.at("y").size(), 200U);
}

TEST(LargeInputs, ASlowReferenceGoesOnWithUnitsByLotEachWithAllItsSamples) {
  const Family family = family_of(parse_family(kSoftmax, "softmax.h"), test_oracle());
  std::set<std::int64_t> alone;
  std::set<std::int64_t> beside_a_border;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    const InputSet inputs = make_inputs(family, Axes{{"cols", 100}, {"rows", 7}}, seed, "typical", 1);
    const Expected one = expect(family, inputs, {1, 2, 3, 6}, 1, nullptr, {.enough_s = 1e-9, .fewest_units = 1});
    ASSERT_EQ(one.units.size(), 1U);
    EXPECT_EQ(one.left_out, 3);
    alone.insert(one.units.front());
    const Expected same = expect(family, inputs, one.units, 1);
    EXPECT_EQ(one.reference, same.reference);
    EXPECT_EQ(one.noise, same.noise);
    const Expected two = expect(family, inputs, {1, 2, 3, 6}, 1, nullptr, {.enough_s = 1e-9, .fewest_units = 2});
    ASSERT_EQ(two.units.size(), 2U);
    EXPECT_TRUE(two.units.front() == 1 || two.units.back() == 6) << "kernels often go wrong at borders";
    beside_a_border.insert(two.units.begin(), two.units.end());
  }
  EXPECT_EQ(alone, (std::set<std::int64_t>{1, 2, 3, 6})) << "a kernel that knows which one would be right there alone";
  EXPECT_EQ(beside_a_border, alone);
}

TEST(LargeInputs, AWholeReferenceHasNoHolesWhereUnitsAreLeftOut) {
  const Family family = family_of(parse_family(kSoftmax, "softmax.h"), test_oracle());
  const InputSet inputs = make_inputs(family, Axes{{"cols", 100}, {"rows", 7}}, 1, "typical", 1);
  TensorMap whole;
  const Expected few = expect(family, inputs, {1, 2, 3, 6}, 1, &whole, {.enough_s = 1e-9, .fewest_units = 1});
  EXPECT_EQ(few.left_out, 3);
  EXPECT_EQ(whole, family.reference(inputs.axes, inputs.values, {}, 1));
}

TEST(LargeInputs, ALongSumHasTheNoiseOfAShorterOne) {
  const Family family = family_of(parse_family("// apo:family total\n// apo:axis n 1..1000000\n"
                                               "// apo:input x f32[n] positive\n// apo:output y f32[1]\n"
                                               "// apo:workload a ragged n=7\n"
                                               "template <class Real> void reference(int64_t n, const Real* x, Real* y)"
                                               " { y[0] = sum<Real>(n, [&](int64_t i) { return x[i]; }); }\n",
                                               "total.h"),
                                  test_oracle());
  for (const std::string regime : {"typical", "sorted"}) {
    const auto relative = [&](std::int64_t n) {
      const Expected expected = expect(family, make_inputs(family, Axes{{"n", n}}, 3, regime, 2), {}, 2);
      return expected.noise.at("y")[0] / expected.reference.at("y")[0];
    };
    const double ratio = relative((1 << 17) + 1) / relative(1 << 17);
    EXPECT_GT(ratio, 0.4) << regime;
    EXPECT_LT(ratio, 2.5) << regime;
  }
}

TEST(LargeInputs, BehindTheFirst16MElementsStretchesOfTheseAreRepeated) {
  constexpr std::size_t kDrawn = std::size_t{1} << 24;
  const auto drawn = [&](const std::string& regime, int threads) {
    return draw_input({.kind = DistributionKind::index}, DType::u8, {kDrawn + 5000}, 255, 5, regime, threads);
  };
  const std::vector<std::byte> values = drawn("typical", 2);
  EXPECT_EQ(values, drawn("typical", 1));
  const auto end = values.begin() + kDrawn;
  const auto found = std::search(values.begin(), end, end, end + 4096);
  EXPECT_NE(found, end);
  EXPECT_FALSE(std::equal(end + 4096, values.end(), found + 4096)) << "the next one is from elsewhere";
  const std::vector<std::byte> sorted = drawn("sorted", 2);
  EXPECT_EQ(sorted.size(), values.size());
  EXPECT_TRUE(std::ranges::is_sorted(sorted) || std::ranges::is_sorted(sorted, std::greater<>()));
}

}  // namespace
}  // namespace apo
