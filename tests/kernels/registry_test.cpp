// tests/kernels/registry_test.cpp - the list of families, look-ups in it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>

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

std::string error_of(const std::string& library) {
  try {
    load_family_library(library);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Registry, ALibraryThatIsMissingOrHasNoFamiliesIsAnError) {
  const std::size_t before = families().size();
  Dl_info libc = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::free), &libc), 0);
  EXPECT_NE(error_of("/nonexistent/libfamily.so").find("/nonexistent/libfamily.so"), std::string::npos);
  EXPECT_NE(error_of(libc.dli_fname).find("exports no function apo_families"), std::string::npos);
  EXPECT_EQ(families().size(), before);
}

}  // namespace
}  // namespace apo
