// tests/evaluate/regression_gate_test.cpp - whole gates with real builds and processes: what passes and what does not.
#include "harness/evaluate/regression_gate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/error.h"
#include "tests/evaluate/runtime_fixture.h"

namespace apo {
namespace {

struct RegressionGateTest : ::testing::Test {
  testing::CopyRuntime copy;
  SilentObserver silent;

  RegressionResult gate(const std::string& baseline, const std::string& candidate, double margin) {
    const EvaluatePlan plan = copy.plan();
    return run_regression_gate(copy.runtime(), {baseline, {}}, {candidate, {}}, plan,
                               {.margin = std::log1p(margin), .looks = plan.preset.looks}, silent);
  }
};

TEST_F(RegressionGateTest, ManyTimesTheWorkRegresses) {
  const RegressionResult result = gate("copy/once", "copy/sixteen_times", 0.5);
  EXPECT_EQ(result.verdict, GateVerdict::regressed) << result.sentence;
  EXPECT_LT(result.state.workloads.at(0).upper, -std::log1p(0.5));
  EXPECT_GE(result.rounds.size(), 14U);
}

TEST_F(RegressionGateTest, AMuchFasterOnePasses) {
  const RegressionResult result = gate("copy/sixteen_times", "copy/once", 0.02);
  EXPECT_EQ(result.verdict, GateVerdict::passed) << result.sentence;
  EXPECT_GT(result.state.workloads.at(0).lower, 0.5);
}

TEST_F(RegressionGateTest, IdenticalMachineCodePassesWithoutTiming) {
  const RegressionResult result = gate("copy/once", "copy/once", 0.02);
  EXPECT_EQ(result.verdict, GateVerdict::passed);
  EXPECT_NE(result.sentence.find("machine code identical"), std::string::npos) << result.sentence;
  EXPECT_TRUE(result.rounds.empty());
  EXPECT_TRUE(result.state.workloads.empty());
}

TEST_F(RegressionGateTest, AMarginBelowTheNoiseIsUndecidedAndSaysWhatIsResolved) {
  // The same code under another hash each time, so that it is timed; no machine resolves a hundred-thousandth of a
  // percent of it.
  Runtime runtime = copy.runtime();
  int builds = 0;
  runtime.build = [&](const Configuration& configuration, const Axes& axes, bool sanitize) {
    Build build = copy.runtime().build(configuration, axes, sanitize);
    build.code_hash += std::to_string(builds++);
    return build;
  };
  const RegressionResult result = run_regression_gate(runtime, {"copy/once", {}}, {"copy/once", {}}, copy.plan(),
                                                      {.margin = 1e-7, .looks = {{14, 0.0001}}}, silent);
  EXPECT_EQ(result.verdict, GateVerdict::undecided) << result.sentence;
  EXPECT_EQ(result.state.workloads.at(0).rounds, 14);
  EXPECT_NE(result.sentence.find("it resolves"), std::string::npos) << result.sentence;
}

TEST_F(RegressionGateTest, AWrongOneFailsAtTheGateThatFoundItUntimed) {
  const RegressionResult result = gate("copy/once", "copy/off_by_one", 0.02);
  EXPECT_EQ(result.verdict, GateVerdict::failed) << result.sentence;
  EXPECT_EQ(result.gates.back().gate, "correctness");
  EXPECT_TRUE(result.rounds.empty());
}

TEST_F(RegressionGateTest, ABaselineThatDoesNotBuildIsTheEnvironmentsTrouble) {
  EXPECT_THROW(gate("copy/does_not_compile", "copy/once", 0.02), EnvironmentError);
}

}  // namespace
}  // namespace apo
