// tests/zoo/profile/profile_zoo_test.cpp - the kernels with planted defects without a GPU: they compile, are right, and
// what of their defects a compiler or a launch shows is there.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/metadata.h"
#include "harness/profile/gpu/occupancy.h"
#include "harness/worker/code/line_table.h"
#include "tests/executor/cpu_runtime_fixture.h"
#include "tests/zoo/profile/zoo.h"

namespace apo::testing {
namespace {

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

TEST(ProfileZooFolder, HasThirtyDefectsAndTenCleanKernelsAndSaysWhatEachIs) {
  int clean = 0;
  int defects = 0;
  for (const std::string& name : zoo_names()) {
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
  // Constants count as state too, and are put back without loading anything anew.
  const bool has_constants = source_of(GetParam()).find("__constant__") != std::string::npos;
  EXPECT_EQ(built.plan.keeps_state, has_constants) << "loaded anew for every sample where its variables are not found";
  const bool spills = says(source_of(GetParam()), "expect") == "register-spills";
  EXPECT_EQ(built.resources["spill_bytes"] > 0, spills) << built.log;
}

TEST(ProfileZooCode, HasALocalArrayAndMoreInstructionsThanCachesHold) {
  APO_BUILD_OR_SKIP(array, "local_array");
  EXPECT_NE(array.log.find("64 bytes stack frame"), std::string::npos) << array.log;
  APO_BUILD_OR_SKIP(huge, "huge_code");
  EXPECT_GT(huge.resources["text_bytes"], 256 << 10);
}
INSTANTIATE_TEST_SUITE_P(All, ProfileZoo, ::testing::ValuesIn(zoo_names()),
                         [](const auto& kernel) { return kernel.param; });

// A sampler names lines as the compiler's line table does.
class ProfileZooLines : public ::testing::TestWithParam<std::string> {};
TEST_P(ProfileZooLines, HasInstructionsOnItsPlantedLine) {
  const std::ptrdiff_t planted = planted_line(source_of(GetParam()));
  APO_BUILD_OR_SKIP(built, GetParam());
  const LineTable lines(read_file(built.object_path));
  constexpr std::uint64_t kInstructionBytes = 16;
  const auto end = static_cast<std::uint64_t>(built.resources.at("text_bytes"));
  std::uint64_t offset = 0;
  while (offset < end && lines.place("kernel", offset).line != planted) {
    offset += kInstructionBytes;
  }
  EXPECT_LT(offset, end) << "no instruction of the kernel belongs to line " << planted;
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
  const CpuRuntime cpu(family.name, "tests/zoo/profile", std::chrono::seconds(60));
  const Workload& small = family.workloads.back();
  const CheckCase one{.workload = small.name, .axes = small.axes, .regimes = {"typical"}};
  const CheckResult result = check_case(cpu.runtime(), {.variant = variant.id(), .settings = {}}, one, 5, false);
  EXPECT_EQ(to_string(result.outcome), "valid") << result.evidence;
}
INSTANTIATE_TEST_SUITE_P(All, ProfileZooOnCpu, ::testing::ValuesIn(names_worth_running()),
                         [](const auto& kernel) { return kernel.param; });

}  // namespace
}  // namespace apo::testing
