// tests/zoo/profile/profile_zoo_test.cpp - the kernels with planted defects without a GPU: they compile, are right, and
// what of their defects a compiler or a launch shows is there.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/files.h"
#include "harness/core/text.h"
#include "harness/implement/metadata.h"
#include "harness/profile/occupancy.h"
#include "harness/worker/pc_sampling.h"
#include "tests/executor/cpu_lab.h"

namespace apo::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kZoo = fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "profile";

const DeviceFacts kH200 = {.name = "none",
                           .major = 9,
                           .sms = 132,
                           .threads_per_block = 1024,
                           .threads_per_sm = 2048,
                           .blocks_per_sm = 32,
                           .shared_per_block = 232'448,
                           .shared_per_sm = 233'472,
                           .registers_per_sm = 65'536};

std::string source_of(const std::string& name) {
  return read_file(kZoo / (name + ".cu"));
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

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(kZoo)) {
    if (entry.path().extension() == ".cu") {
      found.push_back(entry.path().stem().string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Where threads work together, or the result is more than a copy with ballast.
std::vector<std::string> names_worth_running() {
  std::vector<std::string> all = names();
  std::erase_if(all, [](const std::string& name) {
    const std::string source = source_of(name);
    const bool together = source.find("__shared__") != std::string::npos || source.find("_sync") != std::string::npos ||
                          source.find("apo:scratch") != std::string::npos;
    return !says(source, "cpu").empty() || (!together && says(source, "expect") != "none");
  });
  return all;
}

// From 1; 0 when none is marked.
std::ptrdiff_t planted_line(const std::string& source) {
  const std::vector<std::string> text = split(source, '\n');
  const auto planted =
      std::find_if(text.begin(), text.end(), [](const auto& line) { return line.ends_with("// planted"); });
  return planted == text.end() ? 0 : planted - text.begin() + 1;
}

std::vector<std::string> names_with_a_line() {
  std::vector<std::string> all = names();
  std::erase_if(all, [](const std::string& name) { return planted_line(source_of(name)) == 0; });
  return all;
}

// Its block is held against the contract, which has to be there first.
Variant variant_of(const std::string& name) {
  if (find_family("zoo_copy") == nullptr) {
    load_family_library(APO_ZOO_FAMILIES);
  }
  return load_variant((kZoo / (name + ".cu")).string());
}

const Workload& workload_of(const Variant& variant) {
  const std::string named = says(variant.source, "workload");
  const Family& family = *find_family(variant.family);
  return named.empty() ? family.workloads.front() : *find_workload(family, named);
}

// For the GPU that the defects were planted for; throws EnvironmentError where there is no compiler.
Build build(const std::string& name) {
  const Variant variant = variant_of(name);
  const Builder builder(
      {.cache = fs::path(APO_BINARY_FOLDER) / "test-builds", .home = APO_SOURCE_FOLDER, .device = kH200});
  return builder.build(*find_family(variant.family), variant, workload_of(variant).axes, {});
}

double value(const std::vector<Metric>& metrics, const std::string& name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& one) { return one.name == name; });
  return found == metrics.end() ? 0 : found->value;
}

std::vector<Metric> launch_metrics(const Build& built) {
  Machine machine{.target = Target::cuda, .cores = kH200.sms};
  machine.facts = {
      {"threads_per_sm", "2048"}, {"blocks_per_sm", "32"}, {"registers_per_sm", "65536"}, {"shared_per_sm", "233472"}};
  return occupancy_metrics(built, machine);
}

#define APO_BUILD_OR_SKIP(built, name)      \
  Build built;                              \
  try {                                     \
    (built) = build(name);                  \
  } catch (const EnvironmentError& error) { \
    GTEST_SKIP() << error.what();           \
  }                                         \
  ASSERT_EQ((built).outcome, Outcome::valid) << (built).evidence << (built).log

TEST(ProfileZooFolder, HasThirtyDefectsAndTenCleanKernelsAndSaysWhatEachIs) {
  int clean = 0;
  int defects = 0;
  for (const std::string& name : names()) {
    const std::string source = source_of(name);
    const std::string expected = says(source, "expect");
    EXPECT_FALSE(expected.empty()) << name;
    (expected == "none" ? clean : defects) += 1;
    EXPECT_EQ(expected == "none", name.starts_with("clean_")) << name;
    EXPECT_NE(source.find("/" + name + "\n"), std::string::npos) << name << " has another name in its block";
    EXPECT_LE(split(source, '\n').size(), 100U) << name;
  }
  EXPECT_GE(defects, 30);
  EXPECT_GE(clean, 10);
}

class ProfileZoo : public ::testing::TestWithParam<std::string> {};
TEST_P(ProfileZoo, CompilesForItsGpuAndIsLaunchable) {
  APO_BUILD_OR_SKIP(built, GetParam());
  EXPECT_FALSE(launch_metrics(built).empty()) << "an SM holds no block of it";
  EXPECT_FALSE(built.plan.keeps_state) << "loaded anew for every sample, which a sampler would not follow";
  const bool spills = says(source_of(GetParam()), "expect") == "register-spills";
  EXPECT_EQ(built.resources["spill_bytes"] > 0, spills) << built.log;
}

TEST(ProfileZooCode, HasALocalArrayAndMoreInstructionsThanCachesHold) {
  APO_BUILD_OR_SKIP(array, "local_array");
  EXPECT_NE(array.log.find("64 bytes stack frame"), std::string::npos) << array.log;
  APO_BUILD_OR_SKIP(huge, "huge_code");
  EXPECT_GT(huge.resources["text_bytes"], 256 << 10);
}
INSTANTIATE_TEST_SUITE_P(All, ProfileZoo, ::testing::ValuesIn(names()),
                         [](const auto& kernel) { return kernel.param; });

// A sampler names lines as the compiler's line table does.
class ProfileZooLines : public ::testing::TestWithParam<std::string> {};
TEST_P(ProfileZooLines, HasInstructionsOnItsPlantedLine) {
  const std::ptrdiff_t planted = planted_line(source_of(GetParam()));
  std::string missing;
  const auto library = cupti::load_library(missing);
  const auto sampling = library == nullptr ? nullptr : cupti::load_sampling(*library, missing);
  if (sampling == nullptr) {
    GTEST_SKIP() << missing;
  }
  APO_BUILD_OR_SKIP(built, GetParam());
  const std::string cubin = read_file(built.object_path);
  constexpr std::uint64_t kInstructionBytes = 16;
  SourcePlace place{.file = "", .line = 1};
  for (std::uint64_t offset = 0; place.line > 0 && place.line != planted; offset += kInstructionBytes) {
    place = source_place(*sampling, cubin, "kernel", offset);
  }
  EXPECT_GT(place.line, 0) << "no instruction of the kernel belongs to line " << planted;
}
INSTANTIATE_TEST_SUITE_P(All, ProfileZooLines, ::testing::ValuesIn(names_with_a_line()),
                         [](const auto& kernel) { return kernel.param; });

TEST(ProfileZooLaunches, HaveTheOccupancyThatWasPlanted) {
  struct Planted {
    const char* name;
    const char* metric;
    double least;
    double most;
  };
  for (const Planted& one :
       {Planted{"occupancy_registers", "occupancy", 0.125, 0.125},
        Planted{"occupancy_shared", "occupancy", 0.125, 0.125}, Planted{"tiny_blocks", "occupancy", 0.5, 0.5},
        Planted{"tail_of_a_wave", "idle_share", 0.45, 0.5}, Planted{"few_blocks", "idle_share", 0.75, 0.77},
        Planted{"uneven_blocks", "idle_share", 0, 0.05}, Planted{"many_barriers", "occupancy", 0.5, 0.5},
        Planted{"clean_matmul", "idle_share", 0, 0.05}, Planted{"clean_copy", "idle_share", 0, 0.05}}) {
    APO_BUILD_OR_SKIP(built, one.name);
    const double found = value(launch_metrics(built), one.metric);
    EXPECT_GE(found, one.least) << one.name;
    EXPECT_LE(found, one.most) << one.name;
  }
}

class ProfileZooOnCpu : public ::testing::TestWithParam<std::string> {};
TEST_P(ProfileZooOnCpu, IsRight) {
  const Variant variant = variant_of(GetParam());
  const Family& family = *find_family(variant.family);
  const CpuLab cpu(family.name, "tests/zoo/profile", std::chrono::seconds(60));
  const Workload& small = family.workloads.back();
  const CheckCase one{.workload = small.name, .axes = small.axes, .regimes = {"typical"}};
  const CheckResult result = check_case(cpu.lab(), {.variant = variant.id(), .settings = {}}, one, 5, false);
  EXPECT_EQ(to_string(result.outcome), "valid") << result.evidence;
}
INSTANTIATE_TEST_SUITE_P(All, ProfileZooOnCpu, ::testing::ValuesIn(names_worth_running()),
                         [](const auto& kernel) { return kernel.param; });

}  // namespace
}  // namespace apo::testing
