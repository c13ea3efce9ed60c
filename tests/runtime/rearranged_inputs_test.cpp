// tests/runtime/rearranged_inputs_test.cpp - new inputs out of drawn ones have the same values, or whole units.
#include "harness/runtime/rearranged_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/runtime/timed_workload.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo {
namespace {

std::vector<CheckedPointer> drawn(const Family& family, const Workload& workload) {
  std::vector<CheckedPointer> sets;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    sets.push_back(std::make_shared<const CheckedInputs>(family, workload, seed, family.regimes.front(), 2));
  }
  return sets;
}

TEST(RearrangedInputs, OfElementsHaveValuesThatWereDrawnInAnotherOrder) {
  const testing::CopyRuntime copy;
  const std::vector<CheckedPointer> sets = drawn(copy.family(), *find_workload(copy.family(), "n1001"));
  std::set<double> known;
  for (const CheckedPointer& one : sets) {
    const std::vector<double> values = decode(DType::f32, one->inputs.bytes.at("x"));
    known.insert(values.begin(), values.end());
  }
  const InputSet first = rearranged(copy.family(), sets, 5);
  const std::vector<double> values = decode(DType::f32, first.bytes.at("x"));
  ASSERT_EQ(values.size(), 1001u);
  EXPECT_TRUE(std::ranges::all_of(values, [&](double value) { return known.contains(value); }));
  EXPECT_EQ(first.bytes, rearranged(copy.family(), sets, 5).bytes);
  EXPECT_NE(first.bytes, rearranged(copy.family(), sets, 6).bytes);
  EXPECT_NE(first.bytes, sets[0]->inputs.bytes);
}

TEST(RearrangedInputs, OfUnitsAreWholeUnitsWithTheirDerivedInputs) {
  const Family& family = *find_family("e88_backward");
  const Workload& workload = *find_workload(family, "b2_t17_h3_n8_v16");
  const std::vector<CheckedPointer> sets = drawn(family, workload);
  EXPECT_TRUE(derived_inputs_move(family, sets, 2));
  const InputSet moved = rearranged(family, sets, 5);
  EXPECT_NE(moved.bytes, rearranged(family, sets, 6).bytes);
  const auto unit_of = [&](const InputSet& inputs, std::int64_t unit) {
    std::vector<std::byte> bytes;
    for (const TensorSpec& tensor : family.tensors) {
      for (const ElementRun& run : family.unit_elements(workload.axes, tensor.name, unit)) {
        if (tensor.role != Role::output) {
          const auto* const begin = inputs.bytes.at(tensor.name).data() + run.offset * dtype_bytes(tensor.dtype);
          bytes.insert(bytes.end(), begin, begin + run.count * dtype_bytes(tensor.dtype));
        }
      }
    }
    return bytes;
  };
  std::set<std::vector<std::byte>> known;
  for (const CheckedPointer& one : sets) {
    for (std::int64_t unit = 0; unit < family.unit_count(workload.axes); ++unit) {
      known.insert(unit_of(one->inputs, unit));
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
        distinct.insert(one->inputs.bytes);
        EXPECT_EQ(one->expected().reference.size(), 1u);
      }
    }
    EXPECT_GE(distinct.size(), redraw == Redraw::units ? 3u : 20u) << "a set of one unit is a unit";
  }
}

}  // namespace
}  // namespace apo
