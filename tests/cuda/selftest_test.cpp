// tests/cuda/selftest_test.cpp - a spin of known extra length on a real GPU, in rounds that share a process.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "harness/core/error.h"
#include "harness/evaluate/judge/noise_levels.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/rounds/runner.h"
#include "harness/evaluate/rounds/solo_runs.h"
#include "tests/cuda/cuda_runtime_fixture.h"

namespace apo {
namespace {

using testing::checkout;
using testing::cuda_worker;

class CudaSelftest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = Worker(cuda_worker()).device();
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    catalogue_.load({checkout() / "variants"});
    builder_ = std::make_unique<Builder>(
        BuildOptions{.cache = folder_.path() / "cache", .home = checkout(), .device = device_});
    runtime_.family = find_family("spin");
    runtime_.build = [this](const Configuration& configuration, const Axes& axes, bool) {
      return builder_->build(*runtime_.family, catalogue_.get(configuration.variant), axes, configuration.settings);
    };
    runtime_.unsupported = [](const Configuration&, const Axes&) { return std::string(); };
    runtime_.scratch = [](const Configuration&, const Axes&) { return std::vector<std::int64_t>(); };
    runtime_.worker = cuda_worker();
  }

  TimedWorkload pair(int extra_incumbent, int extra_candidate) {
    const Workload& workload = *find_workload(*runtime_.family, "n16k_s8k");
    TimedWorkload timed{.name = workload.name, .axes = workload.axes, .pool = make_pool(runtime_, workload, 3)};
    timed.incumbent = arm(extra_incumbent, workload);
    timed.candidate = arm(extra_candidate, workload);
    return timed;
  }
  TimedArm arm(int extra, const Workload& workload) {
    const Configuration configuration{"spin/cuda_chain", {{"EXTRA", extra}}};
    TimedArm arm{configuration, runtime_.build(configuration, workload.axes, false)};
    EXPECT_EQ(arm.build.outcome, Outcome::valid) << arm.build.evidence << arm.build.log;
    return arm;
  }
  std::vector<Round> run(const TimedWorkload& timed, int rounds, const RoundOptions& options) {
    RoundRunner runner(runtime_, {timed}, precise_preset(), 5, "selftest", CachePolicy::cold, options);
    std::vector<Round> result;
    for (int index = 0; index < rounds; ++index) {
      const auto round = runner.run(RoundStage::search, index);
      EXPECT_TRUE(round) << (round ? "" : round.failure().evidence);
      if (round) {
        result.push_back(*round);
        summarise_round(result.back());
      }
    }
    return result;
  }

  TemporaryFolder folder_{"apo-cuda-selftest"};
  std::optional<DeviceFacts> device_;
  Catalogue catalogue_;
  std::unique_ptr<Builder> builder_;
  Runtime runtime_;
};

// Wide bounds: what is tried is that rounds of one process measure at all, each with coins and loads of its own.
TEST_F(CudaSelftest, RoundsOfOneProcessSeeAKnownDifference) {
  const auto rounds = run(pair(50, 0), 8, {.rounds_per_process = 4});
  ASSERT_EQ(rounds.size(), 8u);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    EXPECT_NEAR(rounds[i].effect, std::log1p(0.05), 0.02) << i;
    EXPECT_EQ(rounds[i].environment.process_start_s.has_value(), i % 4 == 0) << i;
    EXPECT_NO_THROW(check_coin(rounds[i])) << i;
  }
}

TEST_F(CudaSelftest, IdenticalCodeHasNoiseOfEveryLevel) {
  const NoiseDesign design;
  const TimedWorkload same = pair(0, 0);
  const auto rounds =
      run(same, 3 * design.rounds_per_process(),
          {.rounds_per_process = design.rounds_per_process(), .rounds_per_layout = design.rounds_per_layout});
  const NoiseLevels levels = noise_levels(rounds, design);
  EXPECT_EQ(levels.processes, 3);
  EXPECT_GT(levels.sample, 0);
  EXPECT_LT(levels.total, 0.02);
}

// Short solo runs; a spin against itself makes nothing of the clock, and one of 5 % more steps takes 5 % longer at it.
TEST_F(CudaSelftest, IdenticalCodeAloneRunsAtOneClock) {
  for (const int extra : {0, 50}) {
    const std::vector<TimedWorkload> pairs = {pair(extra, 0)};
    SoloRunPlan plan{.coins = {.campaign_seed = 5, .comparison = "alone"},
                     .preset = precise_preset(),
                     .repetitions = {20},  // so that the few microseconds of an event pair do not show
                     .solo_run_s = 0.1};
    double waited_s = 0;
    SilentObserver silent;
    const SoloRunsResult result = run_solo_runs(runtime_, pairs, plan, "alone", silent, waited_s);
    if (!result.clock.missing.empty()) {
      GTEST_SKIP() << result.clock.missing;
    }
    ASSERT_EQ(result.solo_runs.size(), 4u * kSoloRunBlocks);
    for (const SoloRun& solo_run : result.solo_runs) {
      std::cout << (solo_run.candidate ? "candidate " : "incumbent ") << 1e9 * solo_run.seconds / solo_run.calls
                << " ns at " << solo_run.mhz << " MHz, " << solo_run.readings << " readings\n";
      EXPECT_GE(solo_run.readings, 2);
      EXPECT_GT(solo_run.mhz, 200);
      EXPECT_LT(solo_run.mhz, 5000);
    }
    std::cout << "time " << result.clock.time_effect << ", cycles " << result.clock.cycle_effect << ", clock "
              << result.clock.clock_effect << " [" << result.clock.clock_lower << ", " << result.clock.clock_upper
              << "]\n";
    EXPECT_FALSE(result.clock.coupled);
    EXPECT_NEAR(result.clock.time_effect, std::log1p(0.001 * extra), 0.02);
  }
}

}  // namespace
}  // namespace apo
