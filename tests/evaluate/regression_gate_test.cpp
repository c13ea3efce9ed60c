// tests/evaluate/regression_gate_test.cpp - whole gates with real builds and processes: what passes and what does not.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/evaluate/runtime_fixture.h"

namespace apo {
namespace {

struct RegressionGateTest : ::testing::Test {
  testing::CopyRuntime copy;
  Experiment experiment;

  // nullopt: not timed.
  std::optional<PairOutcome> gate(const std::string& baseline, const std::string& candidate, double margin) {
    return gate_in(copy.runtime(), baseline, candidate,
                   {.margin = std::log1p(margin), .looks = copy.plan().preset.looks});
  }
  std::optional<PairOutcome> gate_in(const Runtime& runtime, const std::string& baseline, const std::string& candidate,
                                     const GateRule& rule) {
    SilentObserver silent;
    EvaluatePlan plan = copy.plan();
    plan.regression = rule;
    experiment = copy.experiment(candidate, baseline);
    return evaluate(runtime, experiment, plan, silent);
  }
};

TEST_F(RegressionGateTest, ManyTimesTheWorkRegresses) {
  const PairOutcome outcome = gate("copy/once", "copy/sixteen_times", 0.02).value();
  EXPECT_NE(outcome.gate, GateVerdict::passed) << outcome.judgement.sentence;
  if (outcome.gate == GateVerdict::undecided) {
    GTEST_SKIP() << outcome.judgement.sentence;  // on a busy machine what a call waits for its CPU hides the work
  }
  EXPECT_LT(outcome.state.workloads.at(0).upper, -std::log1p(0.02));
  EXPECT_GE(experiment.rounds.size(), 14U);
}

TEST_F(RegressionGateTest, AMuchFasterOnePasses) {
  const PairOutcome outcome = gate("copy/sixteen_times", "copy/once", 0.02).value();
  EXPECT_NE(outcome.gate, GateVerdict::regressed) << outcome.judgement.sentence;
  if (outcome.gate == GateVerdict::undecided) {
    GTEST_SKIP() << outcome.judgement.sentence;
  }
  EXPECT_GT(outcome.state.workloads.at(0).lower, -std::log1p(0.02));
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
  const PairOutcome outcome =
      gate_in(runtime, "copy/once", "copy/once", {.margin = 1e-7, .looks = {{14, 0.0001}}}).value();
  EXPECT_EQ(outcome.gate, GateVerdict::undecided) << outcome.judgement.sentence;
  EXPECT_EQ(outcome.state.workloads.at(0).rounds, 14);
  EXPECT_NE(outcome.judgement.sentence.find("it resolves"), std::string::npos) << outcome.judgement.sentence;
}

}  // namespace
}  // namespace apo
