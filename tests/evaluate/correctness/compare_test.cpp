// tests/evaluate/correctness/compare_test.cpp - rounding inputs first, comparing every element, and what never passes.
#include "harness/evaluate/correctness/compare.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "harness/core/error.h"
#include "harness/evaluate/correctness/wrong_element.h"
#include "harness/runtime/runtime.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

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
  expect_contains(comparison.evidence, "y[997] = 42");
}

TEST_F(CompareTest, TheFirstWrongElementIsNamedAndNotTheWorst) {
  right[3] += 1;
  right[997] = 42;
  const Comparison comparison = compare(right);
  EXPECT_EQ(comparison.evidence.find("y[3] = "), 0u) << comparison.evidence;
  ASSERT_TRUE(comparison.tensors.front().wrong);
  const WrongElement& wrong = *comparison.tensors.front().wrong;
  EXPECT_EQ(wrong.axes, std::vector<std::string>{"n"});
  EXPECT_EQ(wrong.index, std::vector<std::int64_t>{3});
  EXPECT_DOUBLE_EQ(wrong.expected, expected.reference.at("y")[3]);
  EXPECT_LT(wrong.bound, 1e-6) << "its own rounding";
}

TEST(CompareThreads, ChangeNothingOfWhatIsFound) {
  const Family& family = *find_family("e88_backward");
  const Axes& axes = find_workload(family, "b2_t17_h3_n8_v16")->axes;
  const InputSet inputs = make_inputs(family, axes, 5, "typical", 1);
  const Expected expected = expect(family, inputs, {0, 2, 3, 5}, 1);
  std::map<std::string, std::vector<std::byte>> outputs;
  OutputViews views;
  for (const auto& [name, values] : family.honest(axes, inputs.values, {}, 1)) {
    std::vector<double> wrong = values;
    wrong.front() += 1;  // in the first part alone: later ones are right
    wrong[1] = NAN;
    views[name] = outputs[name] = encode(find_tensor(family, name)->dtype, wrong);
  }
  const Comparison one = compare_outputs(family, axes, expected, views, 1);
  const Comparison several = compare_outputs(family, axes, expected, views, 3);
  EXPECT_FALSE(one.correct || several.correct);
  EXPECT_EQ(one.evidence, several.evidence);
  ASSERT_EQ(one.tensors.size(), several.tensors.size());
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    EXPECT_EQ(one.tensors[i].tensor, several.tensors[i].tensor);
    EXPECT_EQ(one.tensors[i].evidence, several.tensors[i].evidence);
    EXPECT_EQ(one.tensors[i].compared, several.tensors[i].compared);
    EXPECT_EQ(one.tensors[i].wrong_units, several.tensors[i].wrong_units);
    EXPECT_EQ(one.tensors[i].non_finite, several.tensors[i].non_finite);
    EXPECT_EQ(one.tensors[i].errors.max_absolute, several.tensors[i].errors.max_absolute);
  }
}

TEST_F(CompareTest, TheInputsOfAWrongElementAreThoseAtItsIndices) {
  WrongElement wrong = wrong_element(*find_tensor(family, "y"), kAxes, 997);
  add_inputs(wrong, family, inputs);
  ASSERT_EQ(wrong.inputs.size(), 1u);
  EXPECT_EQ(wrong.inputs[0].tensor, "x");
  EXPECT_EQ(wrong.inputs[0].index, std::vector<std::int64_t>{997});
  EXPECT_EQ(wrong.inputs[0].value, inputs.values.at("x")[997]);
  wrong.bound = 0.5;
  EXPECT_EQ(wrong.seed, inputs.seed);
  EXPECT_EQ(sentence(wrong).find("at n=997 its bound is 0.5; inputs there: x = "), 0u) << sentence(wrong);
}

// Of an output [B,T,H,N] the inputs [B,T,H] are at its first three indices; [B,T,H,V] has an axis that it lacks.
TEST(WrongElements, AnInputWithFewerAxesIsMatchedByTheirNames) {
  const Family& family = *find_family("e88_forward");
  const Workload& workload = *find_workload(family, "b1_t16_h1_n4");
  const InputSet inputs = make_inputs(family, workload.axes, 5, "typical", 1);
  const TensorSpec& k = *find_tensor(family, "k");
  WrongElement wrong = wrong_element(k, workload.axes, 4 * 9 + 2);  // as if it were an output: b=0, t=9, h=0, n=2
  add_inputs(wrong, family, inputs);
  const auto value_of = [&](const std::string& name) {
    const auto found = std::ranges::find(wrong.inputs, name, &InputValue::tensor);
    return found == wrong.inputs.end() ? std::optional<double>() : found->value;
  };
  EXPECT_EQ(value_of("k"), inputs.values.at("k")[38]);
  EXPECT_EQ(value_of("decay"), inputs.values.at("decay")[9]);
  EXPECT_EQ(value_of("v"), std::nullopt);
}

TEST_F(CompareTest, WhereTheToleranceIsZeroTheEvidenceSaysExactAndNotARatio) {
  right[997] = 42;
  const std::string evidence = compare(right).evidence;
  expect_contains(evidence, "it has to be exact");
  EXPECT_EQ(evidence.find("inf"), std::string::npos) << evidence;
}

TEST_F(CompareTest, WhatStillHoldsThePoisonWasNeverWritten) {
  std::vector<std::byte> bytes = encode(DType::f32, right);
  std::fill(bytes.begin() + 4 * 500, bytes.begin() + 4 * 600, std::byte{0xFF});
  const std::string evidence = compare_outputs(family, kAxes, expected, {{"y", bytes}}).evidence;
  EXPECT_EQ(evidence.find("y[500] was never written"), 0u) << evidence;
}

TEST(WrongElements, OfAnExtentWithoutANameHaveNoPlace) {
  const TensorSpec total{.name = "total",
                         .dtype = DType::f32,
                         .role = Role::output,
                         .shape_text = "[1]",
                         .shape = [](const Axes&) { return std::vector<std::int64_t>{1}; },
                         .meaning = ""};
  WrongElement wrong = wrong_element(total, kAxes, 0);
  wrong.bound = 0.5;
  EXPECT_EQ(sentence(wrong), "its bound is 0.5");
}

TEST_F(CompareTest, NanInfinityAndZerosAreIncorrect) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> values = right;
    values[3] = bad;
    const Comparison comparison = compare(values);
    expect_contains(comparison.evidence, "it has to be a finite number");
    EXPECT_FALSE(comparison.correct);
    EXPECT_EQ(comparison.tensors.front().non_finite, 1);
  }
  EXPECT_FALSE(compare(std::vector<double>(right.size(), 0.0)).correct);
}

TEST_F(CompareTest, TheLargestErrorsAreThoseOfTheFiniteElements) {
  right[3] = std::numeric_limits<double>::quiet_NaN();
  right[7] += 2;
  const OutputErrors errors = compare(right).tensors.front().errors;
  EXPECT_NEAR(errors.max_absolute, 2, 1e-6);
  EXPECT_NEAR(errors.max_relative, 2 / std::max(0.01, std::fabs(expected.reference.at("y")[7])), 1e-4);
  EXPECT_TRUE(errors.has_nan);
  EXPECT_FALSE(errors.has_inf);
}

TEST_F(CompareTest, OnlyTheDrawnUnitsAreCompared) {
  Axes axes = {{"n", 3 * 4096}};
  const InputSet large = make_inputs(family, axes, 5, "typical", 1);
  const Expected middle = expect(family, large, {1}, 1);
  std::vector<double> values(3 * 4096, 42.0);  // in units 0 and 2: not looked at
  std::ranges::copy(middle.reference.at("y"), values.begin() + 4096);
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
  expect_contains(error_of([&] {
                    inputs_from(*find_family("copy"), kAxes, {{"x", {1.0, 2.0}}}, 1);
                  }),
                  "'x' needs 1001");
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

// The inputs of a repeating workload, written out.
TensorMap expand(const Family& family, const InputSet& inputs) {
  TensorMap whole;
  for (const auto& [name, values] : inputs.values) {
    const TensorSpec& tensor = *find_tensor(family, name);
    const std::vector<std::int64_t> drawn = tensor.shape(inputs.drawn_axes);
    const std::vector<std::int64_t> shape = tensor.shape(inputs.axes);
    const std::size_t axis = name == "checkpoints" ? 1 : 0;
    const std::int64_t outer = axis == 0 ? 1 : drawn[0];
    const std::int64_t block = static_cast<std::int64_t>(values.size()) / (outer * drawn[axis]);
    for (std::int64_t i = 0; i < outer; ++i) {
      for (std::int64_t b = 0; b < shape[axis]; ++b) {
        const auto from = values.begin() + (i * drawn[axis] + b % drawn[axis]) * block;
        whole[name].insert(whole[name].end(), from, from + block);
      }
    }
  }
  return whole;
}

struct RepeatedInputs : ::testing::Test {
  const Family& family = *find_family("e88_backward");
  Workload workload{.name = "repeated",
                    .axes = {{"B", 5}, {"T", 18}, {"H", 2}, {"N", 4}, {"V", 4}, {"GATE", 1}, {"NORM", 1}},
                    .repeated_axis = "B",
                    .distinct = 2};
  InputSet inputs = make_inputs(family, workload, 7, "typical", 1);
};

TEST_F(RepeatedInputs, AreExpectedWhatTheWholeTensorsGive) {
  const TensorMap whole = expand(family, inputs);
  const std::vector<std::int64_t> units = {0, 3, 6, 9};
  const TensorMap reference = family.reference(workload.axes, whole, units, 1);
  const Expected expected = expect(family, inputs, units, 1);
  for (const auto& [name, values] : expected.reference) {
    std::vector<double> gathered;
    for (const std::int64_t unit : units) {
      for (const ElementRun& run : family.unit_elements(workload.axes, name, unit)) {
        const auto from = reference.at(name).begin() + run.offset;
        gathered.insert(gathered.end(), from, from + run.count);
      }
    }
    EXPECT_EQ(values, gathered) << name;
  }
}

TEST_F(RepeatedInputs, LieInTheSharedTensorsAsTheWholeTensors) {
  SharedTensors shared_tensors(shared_tensors_spec(family, workload.axes, 1, {}, {}, 3));
  share_inputs(shared_tensors, 0, family, inputs);
  EXPECT_FALSE(shared_tensors.check_inputs());
  const TensorMap whole = expand(family, inputs);
  std::size_t at = 0;
  for (const TensorSpec& tensor : family.tensors) {
    const BufferPlace& place = shared_tensors.layout().buffers[at++];
    if (tensor.role == Role::output) {
      continue;
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(place.bytes));
    ASSERT_EQ(pread(shared_tensors.fd(), bytes.data(), bytes.size(), place.offset), place.bytes);
    EXPECT_EQ(decode(tensor.dtype, bytes), whole.at(tensor.name)) << tensor.name;
  }
}

TEST(Poison, IsNoNumberInFloatsAndNoLikelyIntegerAndSecret) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::e4m3}) {
    EXPECT_TRUE(std::isnan(from_bits(dtype, 0x0101010101010101 * poison_byte(dtype, 1))));
  }
  EXPECT_EQ(poison_byte(DType::boolean, 1), 0xFF);
  std::set<std::uint8_t> drawn;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    drawn.insert(poison_byte(DType::u8, seed));
  }
  EXPECT_GT(drawn.size(), 200u);
  EXPECT_FALSE(drawn.contains(0) || drawn.contains(0xFF));
}

TEST(InputStore, KeepsWhatWasDrawnUntilItHoldsTooMuch) {
  const Family& family = *find_family("copy");
  const Workload workload{.name = "some", .axes = kAxes};
  InputStore store;
  const CheckedPointer first = store.get(family, workload, 1, "typical", 1);
  EXPECT_EQ(store.get(family, workload, 1, "typical", 1), first);
  EXPECT_NE(store.get(family, workload, 2, "typical", 1), first);
  EXPECT_EQ(first->inputs.bytes, make_inputs(family, kAxes, 1, "typical", 1).bytes);
}

TEST(InputStore, WhatExperimentsShareIsNotPushedOutByWhatEachDrawsForItself) {
  const Family& family = *find_family("copy");
  const Workload large{.name = "large", .axes = {{"n", std::int64_t{1} << 24}}};
  const Workload small{.name = "small", .axes = kAxes};
  InputStore store(std::size_t{100} << 20, 10'000);
  const CheckedPointer kept = store.get(family, large, 1, "typical", 2);
  const CheckedPointer first = store.get(family, small, 1, "typical", 1);
  for (std::uint64_t seed = 2; seed < 6; ++seed) {
    store.get(family, small, seed, "typical", 1);
  }
  EXPECT_EQ(store.get(family, large, 1, "typical", 2), kept);
  EXPECT_NE(store.get(family, small, 1, "typical", 1), first) << "4004 bytes of 10000 for each";
}

TEST(InputStore, OnlyLargeWorkloadsShareInputsAmongExperiments) {
  const Family& family = *find_family("copy");
  EXPECT_NE(inputs_group(family, {{"n", 1000}}, 1), inputs_group(family, {{"n", 1000}}, 2));
  const Axes large = {{"n", std::int64_t{1} << 26}};
  EXPECT_EQ(inputs_group(family, large, 1), inputs_group(family, large, 2));
  EXPECT_NE(inputs_group(family, large, 1), inputs_group(family, large, 100));
}

}  // namespace
}  // namespace apo
