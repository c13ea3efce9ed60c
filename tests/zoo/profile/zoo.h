// tests/zoo/profile/zoo.h - the kernels with planted defects: what each file says of itself, and its build for the GPU
// that the defects were planted for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/families/known_families.h"
#include "harness/implement/builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/worker/cupti/profilers.h"
#include "kernels/family.h"
#include "tests/families/family_text.h"
#include "tests/zoo/says.h"

namespace apo::testing {

namespace fs = std::filesystem;
inline const fs::path kProfileZoo = fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "profile";

inline const DeviceFacts kH200 = {.name = "none",
                                  .major = 9,
                                  .sms = 132,
                                  .threads_per_block = 1024,
                                  .threads_per_sm = 2048,
                                  .blocks_per_sm = 32,
                                  .shared_per_block = 232'448,
                                  .shared_per_sm = 233'472,
                                  .registers_per_sm = 65'536};

inline std::string source_of(const std::string& name) {
  return read_file(kProfileZoo / (name + ".cu"));
}

inline std::vector<std::string> zoo_names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(kProfileZoo)) {
    if (entry.path().extension() == ".cu") {
      found.push_back(entry.path().stem().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Where threads work together, or the result is more than a copy with ballast.
inline std::vector<std::string> names_worth_running() {
  std::vector<std::string> all = zoo_names();
  std::erase_if(all, [](const std::string& name) {
    const std::string source = source_of(name);
    const bool together = source.find("__shared__") != std::string::npos || source.find("_sync") != std::string::npos ||
                          source.find("apo:scratch") != std::string::npos;
    return !zoo_says(source, "cpu").empty() || (!together && zoo_says(source, "expect") != "none");
  });
  return all;
}

// From 1; 0 when none is marked.
inline std::ptrdiff_t planted_line(const std::string& source) {
  const std::vector<std::string> text = split(source, '\n');
  const auto planted =
      std::find_if(text.begin(), text.end(), [](const auto& line) { return line.ends_with("// planted"); });
  return planted == text.end() ? 0 : planted - text.begin() + 1;
}

inline std::vector<std::string> names_with_a_line() {
  std::vector<std::string> all = zoo_names();
  std::erase_if(all, [](const std::string& name) { return planted_line(source_of(name)) == 0; });
  return all;
}

// Its block is held against the contract, which has to be there first: families/.
inline Variant variant_of(const std::string& name) {
  if (find_family("zoo_copy") == nullptr) {
    for (const fs::path& file : files_below(kProfileZoo / "families")) {
      add_family_file(file.string(), test_oracle());
    }
  }
  return load_variant((kProfileZoo / (name + ".cu")).string());
}

inline const Workload& workload_of(const Variant& variant) {
  const std::string named = zoo_says(variant.source, "workload");
  const Family& family = *find_family(variant.family);
  return named.empty() ? family.workloads.front() : *find_workload(family, named);
}

// For the GPU that the defects were planted for; throws EnvironmentError where there is no compiler.
inline Build build(const std::string& name) {
  const Variant variant = variant_of(name);
  const Builder builder(
      {.cache = fs::path(APO_BINARY_FOLDER) / "test-cache/builds", .home = APO_SOURCE_FOLDER, .device = kH200});
  return builder.build(*find_family(variant.family), variant, workload_of(variant).axes, {});
}

#define APO_BUILD_OR_SKIP(built, name)      \
  Build built;                              \
  try {                                     \
    (built) = build(name);                  \
  } catch (const EnvironmentError& error) { \
    GTEST_SKIP() << error.what();           \
  }                                         \
  ASSERT_EQ((built).outcome, Outcome::valid) << (built).evidence << (built).log

}  // namespace apo::testing
