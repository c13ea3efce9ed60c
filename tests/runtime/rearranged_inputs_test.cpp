// tests/runtime/rearranged_inputs_test.cpp - new inputs out of drawn ones have the same values, or whole units.
#include "harness/runtime/rearranged_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/runtime/timed_workload.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo {
namespace {

DrawnSets drawn(const Family& family, const Workload& workload) {
  std::vector<CheckedPointer> sets;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    sets.push_back(std::make_shared<const CheckedInputs>(family, workload, seed, family.regimes.front(), 2));
  }
  return std::make_shared<const std::vector<CheckedPointer>>(std::move(sets));
}

TEST(RearrangedInputs, OfElementsHaveValuesThatWereDrawnInAnotherOrder) {
  const testing::CopyRuntime copy;
  const Family& family = copy.family();
  const DrawnSets sets = drawn(family, *find_workload(family, "n1001"));
  const auto bytes = [&](std::uint64_t seed) { return whole_bytes(family, rearranged(family, sets, nullptr, seed)); };
  std::set<double> known;
  for (const CheckedPointer& one : *sets) {
    const std::vector<double> values = decode(DType::f32, one->inputs.bytes.at("x"));
    known.insert(values.begin(), values.end());
  }
  const TensorBytes first = bytes(5);
  const std::vector<double> values = decode(DType::f32, first.at("x"));
  ASSERT_EQ(values.size(), 1001u);
  EXPECT_TRUE(std::ranges::all_of(values, [&](double value) { return known.contains(value); }));
  EXPECT_EQ(first, bytes(5));
  EXPECT_NE(first, bytes(6));
  EXPECT_NE(first, sets->front()->inputs.bytes);
}

TEST(RearrangedInputs, OfUnitsAreWholeUnitsWithTheirDerivedInputs) {
  const Family& family = *find_family("e88_backward");
  const Workload& workload = *find_workload(family, "b2_t17_h3_n8_v16");
  const DrawnSets sets = drawn(family, workload);
  const UnitPlaces places(family, workload.axes);
  EXPECT_TRUE(derived_inputs_move(family, sets, places, 2));
  const TensorBytes moved = whole_bytes(family, rearranged(family, sets, &places, 5));
  EXPECT_NE(moved, whole_bytes(family, rearranged(family, sets, &places, 6)));
  const auto unit_of = [&](const TensorBytes& inputs, std::int64_t unit) {
    std::vector<std::byte> bytes;
    for (const TensorSpec& tensor : family.tensors) {
      for (const ElementRun& run : family.unit_elements(workload.axes, tensor.name, unit)) {
        if (tensor.role != Role::output) {
          const auto* const begin = inputs.at(tensor.name).data() + run.offset * dtype_bytes(tensor.dtype);
          bytes.insert(bytes.end(), begin, begin + run.count * dtype_bytes(tensor.dtype));
        }
      }
    }
    return bytes;
  };
  std::set<std::vector<std::byte>> known;
  for (const CheckedPointer& one : *sets) {
    for (std::int64_t unit = 0; unit < family.unit_count(workload.axes); ++unit) {
      known.insert(unit_of(one->inputs.bytes, unit));
    }
  }
  for (std::int64_t unit = 0; unit < family.unit_count(workload.axes); ++unit) {
    EXPECT_TRUE(known.contains(unit_of(moved, unit))) << unit;
  }
}

TEST(RearrangedInputs, OfARoundAreNewWhateverTheFamilyAllows) {
  testing::CopyRuntime copy;
  const Workload& workload = *find_workload(copy.family(), "n1001");
  for (const Redraw redraw : {Redraw::elements, Redraw::units, Redraw::whole}) {
    Family family = copy.family();
    family.redraw = redraw;
    Runtime runtime = copy.runtime();
    runtime.family = &family;
    const InputPool pool(runtime, workload, 3);
    std::set<TensorBytes> distinct;
    for (const std::uint64_t round : {1U, 2U}) {
      for (const CheckedPointer& one : pool.of_round(10, round)) {
        distinct.insert(whole_bytes(family, one->inputs));
        EXPECT_EQ(one->expected().reference.size(), 1u);
      }
    }
    EXPECT_GE(distinct.size(), redraw == Redraw::units ? 3u : 20u) << "a set of one unit is a unit";
  }
}

}  // namespace
}  // namespace apo
