// tests/implement/cuda_zoo_test.cpp - what of the GPU's zoo a build alone must stop, and what it must let pass.
//
// An attack that does not compile proves nothing on a GPU machine, and would first be missed there.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/system/process.h"
#include "harness/implement/builder.h"
#include "harness/implement/toolkit.h"
#include "harness/implement/variant/args_header.h"
#include "tests/implement/fixtures.h"
#include "tests/zoo/says.h"

namespace apo {
namespace {

using namespace test;
using testing::zoo_evidence;
using testing::zoo_says;
namespace fs = std::filesystem;

const fs::path kZoo = fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo";

// "cuda/device_trap.cu"
std::vector<std::string> files_of(const std::string& folder, bool libraries) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kZoo / folder)) {
    if (entry.path().extension() == ".cu" && entry.path().stem().string().starts_with("library_") == libraries) {
      files.push_back(fs::relative(entry.path(), kZoo).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// nvcc takes seconds to build one library: these are built by `tests/run --all` alone, and those among the attacks only
// compiled, below.
std::vector<std::string> built_files() {
  std::vector<std::string> files = files_of("cuda", false);
  for (const auto& more : {files_of("cuda", true), files_of("attacks", false)}) {
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

class CudaZoo : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaZoo, BuildsUnlessTheBuildIsWhereItFails) {
  const Variant variant = load_variant((kZoo / GetParam()).string());
  EXPECT_EQ(variant.name, fs::path(GetParam()).stem());
  const std::string expected = zoo_says(variant.source, "expect");
  ASSERT_FALSE(expected.empty()) << "the file has no line '// zoo: expect OUTCOME'";
  Build built;
  try {
    const fs::path cache = fs::path(APO_BINARY_FOLDER) / "test-cache/builds";
    const Builder builder({.cache = cache, .home = APO_SOURCE_FOLDER, .device = h200()});
    built = builder.build(*find_family("copy"), variant, {{"n", 4096}}, {});
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  if (zoo_says(variant.source, "needs") == "nvcc" && find_toolkit_program("nvcc").empty()) {
    GTEST_SKIP() << built.evidence;
  }
  const bool stopped = zoo_says(variant.source, "gate") == "build";
  EXPECT_EQ(to_string(built.outcome), stopped ? expected : "valid") << built.evidence << built.log;
  for (const std::string& words : stopped ? zoo_evidence(variant.source) : std::vector<std::string>()) {
    expect_contains(built.evidence, words);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CudaZoo, ::testing::ValuesIn(built_files()), [](const auto& candidate) {
  const fs::path file = candidate.param;
  return file.parent_path().string() + "_" + file.stem().string();
});

// nvcc's own part reads the host code too, but g++ and the linker are left out: all of them in three seconds.
TEST(CudaZooLibraries, AttacksCompile) {
  const std::string nvcc = find_toolkit_program("nvcc");
  if (nvcc.empty()) {
    GTEST_SKIP() << "no nvcc here";
  }
  const TemporaryFolder folder;
  const Family& copy = *find_family("copy");
  std::vector<std::string> command = {nvcc, "--ptx", "-arch=sm_90", "-std=c++20", "-I.", "-I", APO_SOURCE_FOLDER};
  for (const std::string& file : files_of("attacks", true)) {
    const Variant variant = load_variant((kZoo / file).string());
    EXPECT_TRUE(variant.tunables.empty() && variant.scratch.empty()) << file << " needs a header of its own";
    write(folder.path() / args_header_name(copy), args_header(copy, variant, {}, {}));
    command.push_back((kZoo / file).string());
  }
  const ProcessResult compiled = run_process(command, {.timeout_s = 1000, .working_folder = folder.path().string()});
  EXPECT_TRUE(compiled.ok()) << compiled.output << compiled.error;
}

}  // namespace
}  // namespace apo
