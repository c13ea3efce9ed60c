// tests/evaluate/scan/scan_process_test.cpp - what a scan measures, with real builds and processes: a candidate that
// goes wrong costs its own process, and what is fast in a scan alone loses in the judge.
#include "harness/evaluate/scan/scan_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "harness/core/error.h"
#include "tests/evaluate/runtime_fixture.h"
#include "tests/text.h"

namespace apo {
namespace {

constexpr ScanEffort kEffort{.seconds = 0.02, .most_blocks = 5};

struct ScanTest : ::testing::Test {
  explicit ScanTest(const std::vector<std::string>& folders = {"tests/zoo/evaluate", "tests/zoo/host"})
      : copy("copy", folders) {}
  testing::CopyRuntime copy;
  Runtime runtime = copy.runtime();
  const Workload& workload = *find_workload(copy.family(), "n4k");

  TimedArm arm(const std::string& variant) const {
    const Configuration configuration{variant, {}};
    return {configuration, runtime.build(configuration, workload.axes, false)};
  }
  ScanProcess beside(const std::string& incumbent) const {
    return {runtime, workload, CachePolicy::warm, arm(incumbent), 1};
  }
};

TEST_F(ScanTest, MoreWorkOnTheSameDataRanksBehindLess) {
  ScanProcess process = beside("copy/sixteen_times");
  const ScanTimes once = process.measure(arm("copy/once"), kEffort);
  const ScanTimes more = process.measure(arm("copy/four_thousand_times"), kEffort);
  ASSERT_EQ(once.outcome, Outcome::valid) << once.evidence;
  ASSERT_EQ(more.outcome, Outcome::valid) << more.evidence;
  EXPECT_GT(once.effect, more.effect) << "a factor of four thousand";
  EXPECT_GE(once.pairs, 1);
  EXPECT_GT(once.time_ns, 0);
  EXPECT_GT(once.incumbent_ns, 0);
  EXPECT_GE(once.sd, 0);
}

TEST_F(ScanTest, WhatGoesWrongCostsItsOwnProcessAndTheOthersAreMeasured) {
  runtime.worker.memory_limit_bytes = std::int64_t{1} << 28;
  ScanProcess process = beside("copy/once");
  const std::map<std::string, Outcome> out = {
      {"segfault", Outcome::faulted},         {"quick_exit", Outcome::faulted},
      {"zeros", Outcome::incorrect},          {"last_element_missing", Outcome::incorrect},
      {"mutates_inputs", Outcome::incorrect}, {"writes_out_of_bounds", Outcome::incorrect},
      {"infinite_loop", Outcome::timed_out},  {"allocates_without_end", Outcome::out_of_memory},
      {"wrong_abi", Outcome::wrong_abi},      {"asks_for_a_petabyte", Outcome::out_of_memory}};
  for (const auto& [name, outcome] : out) {
    const ScanTimes bad = process.measure(arm("copy/" + name), kEffort);
    EXPECT_EQ(bad.outcome, outcome) << name << ": " << bad.evidence;
    EXPECT_FALSE(bad.evidence.empty()) << name;
    EXPECT_TRUE(std::isnan(bad.effect)) << name;
    const ScanTimes good = process.measure(arm("copy/sixteen_times"), kEffort);
    EXPECT_EQ(good.outcome, Outcome::valid) << "behind " << name << ": " << good.evidence;
  }
}

TEST_F(ScanTest, AnIncumbentThatDoesNotRunIsTheEnvironmentsError) {
  EXPECT_THROW(beside("copy/segfault"), EnvironmentError);
}

struct ScanAttackTest : ScanTest {
  ScanAttackTest() : ScanTest({"tests/zoo/attacks"}) {}
};

// The calls of a scan have the same inputs, which results may be kept of, and nobody asks it for the same bits again.
TEST_F(ScanAttackTest, WhatIsGoodInAScanAloneIsNotAcceptedByTheJudge) {
  for (const char* name : {"copy/host_remembers_by_content", "copy/host_differs_now_and_then"}) {
    const ScanTimes times = beside("copy/host_slow").measure(arm(name), kEffort);
    ASSERT_EQ(times.outcome, Outcome::valid) << name << ": " << times.evidence;
    Experiment experiment = copy.experiment(name, "copy/host_slow");
    SilentObserver silent;
    evaluate(runtime, experiment, copy.plan(), silent);
    EXPECT_NE(experiment.judgement->verdict, Verdict::accepted) << experiment.judgement->sentence;
  }
}

}  // namespace
}  // namespace apo
