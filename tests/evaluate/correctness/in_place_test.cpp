// tests/evaluate/correctness/in_place_test.cpp - tensors that a call reads and writes: right kernels pass, in checks
// and in windows, and each kind of wrong one is found.
#include <gtest/gtest.h>

#include "harness/evaluate/correctness/check_case.h"
#include "harness/evaluate/windows/arm_process.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo::testing {
namespace {

constexpr const char* kCases[][2] = {
    {"adamw", "k01_adamw"}, {"add_norm", "k02_residual_norm"}, {"cache_append", "k03_cache_append"}};

// A runtime for the host variants of the case.
CopyRuntime runtime_of(const std::string& family, const std::string& folder) {
  const std::string place = "tests/zoo/kinds/" + folder;
  if (find_family(family) == nullptr) {
    add_family_file((std::filesystem::path(APO_SOURCE_FOLDER) / place / (family + ".h")).string(), test_oracle());
  }
  return {family, {place}};
}

TEST(InPlace, RightKernelsPassAndWrongOnesAreFound) {
  for (const auto& [family, folder] : kCases) {
    const CopyRuntime cases = runtime_of(family, folder);
    const Workload& workload = cases.family().workloads.front();
    const CheckCase one{.workload = workload.name, .axes = workload.axes, .regimes = {"typical", "wide"}};
    int wrong = 0;
    for (const Variant* variant : cases.catalogue().of_family(family)) {
      if (variant->target == Target::host) {
        const CheckResult result = check_case(cases.runtime(), {.variant = variant->id(), .settings = {}}, one, 5);
        const bool is_right = variant->name.starts_with("right");
        EXPECT_EQ(result.outcome, is_right ? Outcome::valid : Outcome::incorrect)
            << variant->id() << ": " << result.evidence;
        wrong += is_right ? 0 : 1;
      }
    }
    EXPECT_GT(wrong, 1) << family;
  }
}

// The process has its tensors anew in every window; the second must not begin with what the first left.
TEST(InPlace, EveryCallOfEveryWindowBeginsWithItsOwnContents) {
  const CopyRuntime cases = runtime_of("adamw", "k01_adamw");
  const Workload& workload = cases.family().workloads.front();
  const Configuration configuration{"adamw/right", {}};
  const TimedArm arm{configuration, cases.runtime().build(configuration, workload.axes, false)};
  ArmProcess process(cases.runtime(), arm, workload.axes, {}, 5);
  ASSERT_TRUE(process.load());
  ASSERT_TRUE(process.attach(3, 7));
  InputPool pool(cases.runtime(), workload, 3);
  pool.draw(3);
  const std::vector<CheckedPointer> inputs = {pool[0], pool[1], pool[2]};
  for (int window = 0; window < 2; ++window) {
    const auto times = process.window(inputs, CachePolicy::cold);
    ASSERT_TRUE(times) << times.failure().evidence;
    for (int call = 0; call < 3; ++call) {
      CallFindings findings;
      const auto failure = process.inspect(call, *inputs[static_cast<std::size_t>(call)], "adamw/right", findings);
      EXPECT_FALSE(failure) << window << "/" << call << (failure ? failure->evidence : "");
    }
  }
}

}  // namespace
}  // namespace apo::testing
