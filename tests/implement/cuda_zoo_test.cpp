// tests/implement/cuda_zoo_test.cpp - what of the GPU's zoo a build alone must stop, and what it must let pass.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/text.h"
#include "harness/implement/build.h"
#include "harness/implement/toolkit.h"
#include "tests/implement/fixtures.h"

namespace apo {
namespace {

using namespace test;
namespace fs = std::filesystem;

const fs::path kZoo = fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "cuda";

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kZoo)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What stands behind "// zoo: KEY ".
std::string says(const std::string& source, const std::string& key) {
  const std::string mark = "// zoo: " + key + " ";
  for (const std::string& line : split(source, '\n')) {
    if (line.starts_with(mark)) {
      return trim(line.substr(mark.size()));
    }
  }
  return "";
}

class CudaZoo : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaZoo, BuildsUnlessTheBuildIsWhereItFails) {
  const DeviceFacts device{
      .name = "none", .major = 9, .sms = 132, .threads_per_block = 1024, .shared_per_block = 232'448};
  const Variant variant = load_variant((kZoo / (GetParam() + ".cu")).string());
  EXPECT_EQ(variant.name, GetParam());
  const std::string expected = says(variant.source, "expect");
  ASSERT_TRUE(outcome_from(expected)) << "the file has no line '// zoo: expect OUTCOME'";
  Build built;
  try {
    const fs::path cache = fs::path(APO_BINARY_FOLDER) / "test-builds";
    const Builder builder({.cache = cache, .home = APO_SOURCE_FOLDER, .device = device});
    built = builder.build(*find_family("copy"), variant, {{"n", 4096}}, {});
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  if (says(variant.source, "needs") == "nvcc" && find_toolkit_program("nvcc").empty()) {
    GTEST_SKIP() << built.evidence;
  }
  const bool stopped = says(variant.source, "gate") == "build";
  EXPECT_EQ(to_string(built.outcome), stopped ? expected : "valid") << built.evidence << built.log;
  for (const std::string& words : split(stopped ? says(variant.source, "evidence") : "", ',')) {
    expect_contains(built.evidence, trim(words));
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaZoo, ::testing::ValuesIn(zoo_names()),
                         [](const auto& candidate) { return candidate.param; });

}  // namespace
}  // namespace apo
