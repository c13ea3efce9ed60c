// tests/kernels/registry_test.cpp - the list of families, look-ups in it, and the family `copy`.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>

#include "kernels/closeness.h"
#include "kernels/family.h"

namespace apo {
namespace {

TEST(Registry, BuiltInFamiliesAreFoundByName) {
  for (const char* name : {"copy", "e88_forward", "e88_backward"}) {
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

TEST(Registry, MissingFamilyLibraryIsAnErrorThatNamesIt) {
  try {
    load_family_library("/nonexistent/libfamily.so");
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/libfamily.so"), std::string::npos);
  }
}

TEST(Registry, LibraryWithoutFamiliesIsRefused) {
  const std::size_t before = families().size();
  Dl_info libc = {};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&std::free), &libc), 0);
  try {
    load_family_library(libc.dli_fname);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("exports no function apo_families"), std::string::npos) << error.what();
  }
  EXPECT_EQ(families().size(), before);
}

TEST(Copy, ReferenceIsTheInputAndEqualityIsAsked) {
  const Family& family = *find_family("copy");
  const Axes axes = {{"n", 5000}};
  const TensorMap inputs = family.fill(axes, 3, "typical", 1);
  TensorMap outputs = family.reference(axes, inputs, {}, 1);
  const std::vector<double> noise = family.noise(axes, inputs, outputs, {}, 1).at("y");
  const Tolerance tolerance = family.tolerance("y", axes);
  EXPECT_TRUE(closeness(tolerance, inputs.at("x"), noise, outputs.at("y")).holds());
  outputs["y"][4999] += 1e-12;
  EXPECT_FALSE(closeness(tolerance, inputs.at("x"), noise, outputs.at("y")).holds());
}

TEST(Copy, UnitsCoverARaggedLengthOnce) {
  const Family& family = *find_family("copy");
  const Axes axes = {{"n", 10001}};
  std::int64_t next = 0;
  for (std::int64_t unit = 0; unit < family.unit_count(axes); ++unit) {
    for (const ElementRun& run : family.unit_elements(axes, "y", unit)) {
      EXPECT_EQ(run.offset, next);
      next += run.count;
    }
  }
  EXPECT_EQ(next, 10001);
}

TEST(Copy, BytesAreOneReadAndOneWrite) {
  EXPECT_EQ(find_family("copy")->work({{"n", 1000}}).bytes, 8000);
}

}  // namespace
}  // namespace apo
