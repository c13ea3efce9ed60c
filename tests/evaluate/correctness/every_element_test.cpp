// tests/evaluate/correctness/every_element_test.cpp - what is found outside of the units that the reference computes.
#include "harness/evaluate/correctness/every_element.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/evaluate/correctness/inspect_call.h"
#include "harness/evaluate/correctness/wrong_element.h"
#include "harness/runtime/runtime.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

constexpr std::int64_t kBlock = 4096;  // of copy's units

struct EveryElement : ::testing::Test {
  const Family& family = *find_family("copy");
  const Workload workload{.name = "n40", .axes = {{"n", 40 * kBlock}}};
  const CheckedInputs inputs{family, workload, 5, "typical", 2};
  SharedTensors tensors{shared_tensors_spec(family, workload.axes, 1, {}, {}, 3)};
  std::vector<float> y = right();

  std::vector<float> right() const {
    std::vector<float> values(static_cast<std::size_t>(40 * kBlock));
    std::memcpy(values.data(), inputs.inputs.bytes.at("x").data(), values.size() * sizeof(float));
    return values;
  }
  // The last block that the reference does not compute.
  std::int64_t undrawn() const {
    std::int64_t unit = 39;
    while (std::ranges::binary_search(inputs.expected().units, unit)) {
      --unit;
    }
    return unit;
  }
  float& at(std::int64_t unit, std::int64_t element) { return y.at(static_cast<std::size_t>(unit * kBlock + element)); }
  std::optional<Failure> call(const std::string& whose, CallFindings* findings = nullptr) {
    const SharedTensorsLayout& layout = tensors.layout();
    const auto place = std::ranges::find(layout.buffers, BufferRole::output, &BufferPlace::role);
    EXPECT_EQ(pwrite(tensors.fd(), y.data(), y.size() * sizeof(float), place->offset), place->bytes);
    return inspect_call(tensors, family, inputs, whose, std::nullopt, 2, findings);
  }
  std::optional<Failure> call_of_poison(std::int64_t unit, std::int64_t element) {
    std::memset(&at(unit, element), 0xFF, sizeof(float));
    return call("one");
  }
};

TEST_F(EveryElement, IsHeldAgainstTheWholeReferenceWhereThatIsCheap) {
  EXPECT_TRUE(is_cheap(family, workload.axes));
  inputs.compute_whole();
  ASSERT_LT(std::ssize(inputs.expected().units), 40);
  CallFindings findings;
  EXPECT_FALSE(call("one", &findings));
  EXPECT_EQ(findings.elements, 40 * kBlock);
  at(undrawn(), 7) += 1;
  const auto failure = call("one");
  ASSERT_TRUE(failure);
  expect_contains(failure->evidence, element_name(*find_tensor(family, "y"), workload.axes, undrawn() * kBlock + 7));
}

TEST_F(EveryElement, IsHeldAgainstTheWholeReferenceBesideFewUnitsWhereEachTakesLong) {
  Family slow = family;
  Patience patience;
  slow.work = [](const Axes&) { return Work{.flops = 0x1p29}; };
  slow.expected = [&](const Axes& axes, const StoredTensors& stored, const Asked& asked) {
    patience = asked.patience;
    return family.expected(axes, stored, asked);
  };
  EXPECT_FALSE(is_cheap(slow, workload.axes));
  const CheckedInputs checked(slow, workload, 5, "typical", 2);
  checked.compute_whole();
  EXPECT_LT(patience.enough_s, Patience().enough_s);
  ASSERT_NE(checked.witness(), nullptr);
  EXPECT_EQ(checked.witness()->of, kWholeReference);
}

TEST_F(EveryElement, ThatIsNotWrittenIsFoundWithoutAWitness) {
  const auto failure = call_of_poison(undrawn(), kBlock - 1);
  ASSERT_TRUE(failure);
  expect_contains(failure->evidence, "was never written");
  EXPECT_EQ(inputs.witness(), nullptr);
}

TEST_F(EveryElement, OfTwoCallsTheWrongOneIsNamedWhicheverCameFirst) {
  EXPECT_FALSE(call("one"));
  ASSERT_NE(inputs.witness(), nullptr);
  EXPECT_FALSE(inputs.witness()->is_confirmed());
  EXPECT_FALSE(call("one"));
  EXPECT_FALSE(inputs.witness()->is_confirmed()) << "by the same code";
  EXPECT_FALSE(call("other"));
  EXPECT_TRUE(inputs.witness()->is_confirmed());
  at(undrawn(), 0) = 0;
  CallFindings findings;
  EXPECT_TRUE(call("other", &findings));
  EXPECT_EQ(wrong_slot(findings, 1, "one"), 1);

  inputs.set_witness(nullptr);
  EXPECT_FALSE(call("one")) << "nothing to hold it against";
  y = right();
  findings = {};
  EXPECT_TRUE(call("other", &findings));
  EXPECT_EQ(findings.wrong_call_of, "one");
  EXPECT_EQ(wrong_slot(findings, 1, "one"), 0);
  EXPECT_EQ(wrong_slot(findings, 1, "another"), std::nullopt);
  EXPECT_EQ(inputs.witness(), nullptr) << "it is held against nothing any more";
}

TEST_F(EveryElement, ThatNeitherOfTwoCallsWroteIsFound) {
  std::memset(&at(undrawn(), 5), 0xFF, sizeof(float));
  const std::vector<float> both = y;
  inputs.set_witness(std::make_shared<Witness>("other", OutputViews{{"y", std::as_bytes(std::span(both))}}));
  const auto failure = call("one");
  ASSERT_TRUE(failure);
  expect_contains(failure->evidence, "was never written");
}

TEST_F(EveryElement, MayDifferByTheRoundingOfBothCalls) {
  EXPECT_FALSE(call("one"));
  const std::shared_ptr<Witness> first = inputs.witness();
  const OutputViews& witness = first->outputs;
  const auto doubtful = [&](const TypicalErrors& typical) {
    return doubtful_units(family, workload.axes, typical, {{"y", std::as_bytes(std::span(y))}}, &witness, 1);
  };
  std::ranges::transform(y, y.begin(), [](float value) { return std::nextafter(value, 100.0F); });
  EXPECT_TRUE(doubtful(inputs.typical()).empty());
  at(20, 5) += 1;
  at(30, 5) += 2;
  EXPECT_EQ(doubtful(inputs.typical()).size(), 2U);
  const std::vector<DoubtfulUnit> found = doubtful({{"y", {.relative = 1e-3, .smallest = 1e-3}}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].unit, 30) << "the one with most doubt";
  EXPECT_EQ(found[1].unit, 20);
}

// The reference has 32 units to compute for a judge, and none for a scan.
TEST_F(EveryElement, OfAScanIsDecidedWhereItIsClearlyApartAlone) {
  const CheckedInputs coarse(family, inputs.inputs, 2, Purpose::scan);
  EXPECT_FALSE(call("one"));
  coarse.set_witness(inputs.witness());
  const TypicalErrors typical = {{"y", {.relative = 1e-3, .smallest = 1e-3}}};
  const auto hold = [&](const CheckedInputs& of, CallFindings& findings) {
    static_cast<void>(call("other"));
    inputs.set_witness(coarse.witness());
    return hold_all(tensors, family, of, "other", typical, 2, findings);
  };
  at(undrawn(), 5) += 0.05F;
  CallFindings judged, scanned, clear;
  EXPECT_TRUE(hold(inputs, judged));
  EXPECT_FALSE(hold(coarse, scanned));
  EXPECT_EQ(scanned.undecided, 1);
  at(undrawn(), 5) += 50;
  EXPECT_TRUE(hold(coarse, clear));
}

TEST(CheckedUnits, AreTwoOfLargeOnesInAScan) {
  const Family& e88 = *find_family("e88_backward");
  const Axes& long_axes = find_workload(e88, "b1_t16384_h83_n32")->axes;
  EXPECT_EQ(checked_units(e88, long_axes, 1).size(), 8U);
  EXPECT_EQ(checked_units(e88, long_axes, 1, Purpose::scan), (std::vector<std::int64_t>{0, 82}));
}

// Of an integer any value may be right: more of them in a unit are more doubt, and none is certain.
TEST(EveryElementOfAnInteger, ThatHoldsTheFillingIsInDoubt) {
  const Family& copy = *find_family("copy");
  Family bytes = copy;
  bytes.tensors.back().dtype = DType::u8;
  const Axes axes = {{"n", 4 * kBlock}};
  std::vector<std::byte> y(static_cast<std::size_t>(4 * kBlock), std::byte{1});
  y[kBlock] = y[3 * kBlock] = y[3 * kBlock + 9] = std::byte{0x5A};
  const auto found = doubtful_units(bytes, axes, {}, {{"y", OutputView(y, 0x5A)}}, nullptr, 1);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].unit, 3);
  EXPECT_EQ(found[1].unit, 1);
  EXPECT_TRUE(doubtful_units(bytes, axes, {}, {{"y", y}}, nullptr, 1).empty()) << "filled with nobody knows what";
}

}  // namespace
}  // namespace apo
