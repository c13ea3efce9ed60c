// tests/evaluate/compare_test.cpp - rounding inputs first, comparing every element, and what never passes.
#include "harness/evaluate/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "harness/core/error.h"

namespace apo {
namespace {

const Axes kAxes = {{"n", 1001}};

struct CompareTest : ::testing::Test {
  const Family& family = *find_family("copy");
  InputSet inputs = make_inputs(family, kAxes, 5, "typical", 1);
  Expected expected = expect(family, inputs, {}, 1);
  std::vector<double> right = expected.reference.at("y");

  Comparison compare(const std::vector<double>& values) {
    return compare_outputs(family, kAxes, expected, {{"y", encode(DType::f32, values)}});
  }
};

TEST_F(CompareTest, TheReferenceItselfIsCorrect) {
  const Comparison comparison = compare(right);
  EXPECT_TRUE(comparison.correct) << comparison.evidence;
  EXPECT_EQ(comparison.tensors.front().compared, 1001);
}

TEST_F(CompareTest, OneWrongElementIsNamedWithItsPlaceAndValues) {
  right[997] = 42;
  const Comparison comparison = compare(right);
  EXPECT_FALSE(comparison.correct);
  EXPECT_NE(comparison.evidence.find("y[997] = 42"), std::string::npos) << comparison.evidence;
}

TEST_F(CompareTest, WhereTheToleranceIsZeroTheEvidenceSaysExactAndNotARatio) {
  right[997] = 42;
  const std::string evidence = compare(right).evidence;
  EXPECT_NE(evidence.find("it has to be exact"), std::string::npos) << evidence;
  EXPECT_EQ(evidence.find("inf"), std::string::npos) << evidence;
}

TEST_F(CompareTest, NanIsIncorrect) {
  right[3] = std::numeric_limits<double>::quiet_NaN();
  const Comparison comparison = compare(right);
  EXPECT_NE(comparison.evidence.find("it has to be a finite number"), std::string::npos) << comparison.evidence;
  EXPECT_FALSE(comparison.correct);
  EXPECT_EQ(comparison.tensors.front().non_finite, 1);
}

TEST_F(CompareTest, InfinityIsIncorrect) {
  right[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(compare(right).correct);
}

TEST_F(CompareTest, ZerosAreIncorrect) {
  EXPECT_FALSE(compare(std::vector<double>(right.size(), 0.0)).correct);
}

TEST_F(CompareTest, OnlyTheDrawnUnitsAreCompared) {
  Axes axes = {{"n", 3 * 4096}};
  const InputSet large = make_inputs(family, axes, 5, "typical", 1);
  const Expected middle = expect(family, large, {1}, 1);
  std::vector<double> values = middle.reference.at("y");
  values[0] = 42;  // unit 0: not looked at
  EXPECT_TRUE(compare_outputs(family, axes, middle, {{"y", encode(DType::f32, values)}}).correct);
  values[4096] = 42;  // the first element of unit 1
  EXPECT_FALSE(compare_outputs(family, axes, middle, {{"y", encode(DType::f32, values)}}).correct);
}

TEST(Data, ValuesAreExactlyWhatTheBytesHold) {
  const Family& family = *find_family("e88_forward");
  const InputSet inputs = make_inputs(family, family.workloads.front().axes, 5, "typical", 1);
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::input) {
      EXPECT_EQ(decode(tensor.dtype, inputs.bytes.at(tensor.name)), inputs.values.at(tensor.name)) << tensor.name;
    }
  }
}

TEST(Data, GivenInputsOfTheWrongLengthAreRefusedByName) {
  try {
    inputs_from(*find_family("copy"), kAxes, {{"x", {1.0, 2.0}}}, 1);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("'x' needs 1001"), std::string::npos) << error.what();
  }
}

TEST(Data, MissingInputsAreRefusedByName) {
  EXPECT_THROW(inputs_from(*find_family("copy"), kAxes, {}, 1), UserError);
}

TEST(Data, DrawnUnitsHoldBothBordersAndDoNotRepeat) {
  const auto units = draw_units(1000, 32, 5);
  EXPECT_EQ(units.size(), 32U);
  EXPECT_EQ(std::set<std::int64_t>(units.begin(), units.end()).size(), 32U);
  EXPECT_EQ(units.front(), 0);
  EXPECT_EQ(units.back(), 999);
  EXPECT_TRUE(draw_units(32, 32, 5).empty()) << "few units are all compared";
}

}  // namespace
}  // namespace apo
