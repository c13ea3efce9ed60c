// tests/kernels/registry_test.cpp - the list of families, look-ups in it.
#include <gtest/gtest.h>

#include <set>

#include "kernels/family.h"

namespace apo {
namespace {

TEST(Registry, BuiltInFamiliesAreFoundByName) {
  for (const char* name : {"e88_forward", "e88_backward"}) {
    ASSERT_NE(find_family(name), nullptr) << name;
    EXPECT_EQ(find_family(name)->name, name);
  }
  EXPECT_EQ(find_family("e88_backwrd"), nullptr);
  EXPECT_EQ(find_family(""), nullptr);
}

TEST(Registry, EveryFamilyIsComplete) {
  for (const Family& family : families()) {
    EXPECT_FALSE(family.summary.empty()) << family.name;
    ASSERT_FALSE(family.regimes.empty()) << family.name;
    EXPECT_EQ(family.regimes.front(), "typical") << family.name;
    EXPECT_FALSE(family.workloads.empty()) << family.name;
    EXPECT_TRUE(family.unit_count && family.unit_elements && family.fill && family.derive && family.reference &&
                family.honest && family.noise && family.tolerance && family.work)
        << family.name;
    // Inputs first, then derived inputs, then outputs: the order of a variant's arguments.
    for (std::size_t i = 1; i < family.tensors.size(); ++i) {
      EXPECT_LE(family.tensors[i - 1].role, family.tensors[i].role) << family.name;
    }
    for (const Workload& workload : family.workloads) {
      EXPECT_EQ(check_axes(family, workload.axes), "") << family.name << "/" << workload.name;
      EXPECT_EQ(find_workload(family, workload.name), &workload);
    }
    for (const TensorSpec& tensor : family.tensors) {
      EXPECT_EQ(find_tensor(family, tensor.name), &tensor);
    }
    EXPECT_EQ(find_workload(family, "no_such"), nullptr);
    EXPECT_EQ(find_tensor(family, "no_such"), nullptr);
  }
}

}  // namespace
}  // namespace apo
