// tests/cuda/activity_test.cpp - the record of activity on a real GPU: it counts launches and agrees with the events.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>

#include "harness/core/error.h"
#include "harness/worker/cupti/cupti.h"
#include "harness/worker/parent/worker.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

constexpr std::int64_t kCount = 10'000;
// Every launch copies, so that none of it is removed, and spins for `cycles`: 2 cycles are about a nanosecond.
constexpr const char* kCopyAndSpin =
    "const long long i = 256LL * blockIdx.x + threadIdx.x; if (i < a.n) a.y[i] = a.x[i];\n"
    "const long long begin = clock64(); while (clock64() - begin < ";
constexpr const char* kMillisecond = "2000000";
constexpr const char* kFiveMicroseconds = "10000";

std::string kernel(const std::string& name, const std::string& cycles) {
  return "extern \"C\" __global__ void " + name + "(copy_args a) {\n" + kCopyAndSpin + cycles + ") {}\n}\n";
}

class ActivityClock : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string missing;
    if (cupti::load_library(missing) == nullptr) {
      GTEST_SKIP() << missing;
    }
    start(testing::cuda_worker());
  }
  void start(const WorkerOptions& with) {
    try {
      gpu_ = std::make_unique<testing::CopyOnGpu>(testing::copy_tensors(kCount), with);
      worker_ = &gpu_->worker();
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  // Both slots; `kernels` are launched in order in one call.
  void load(const std::vector<std::string>& kernels, const std::string& code) {
    std::vector<std::string> launches;
    for (const std::string& name : kernels) {
      launches.push_back("launch " + name + " grid=ceil_div(n,256) block=256");
    }
    const auto loaded = gpu_->load(gpu_->build(launches, code), 2);
    ASSERT_TRUE(loaded) << loaded.failure().evidence;
  }
  void load_warm(const std::vector<std::string>& kernels, const std::string& code) {
    load(kernels, code);
    const auto warm = worker_->run({.order = {0, 1, 0, 1}});
    ASSERT_TRUE(warm) << warm.failure().evidence;
  }
  std::vector<RawSample> record(int repetitions, CachePolicy cache = CachePolicy::warm) {
    const auto samples = worker_->run(
        {.order = {0, 1, 1, 0}, .repetitions = repetitions, .cache = cache, .read_back = true, .activity = true});
    EXPECT_TRUE(samples) << samples.failure().evidence;
    EXPECT_EQ(worker_->activity_missing(), "");
    for (const RawSample& sample : samples ? *samples : std::vector<RawSample>()) {
      std::cout << "  slot " << sample.slot << ": host " << sample.end_ns - sample.begin_ns << " ns, events "
                << sample.device_ns << " ns, activity " << sample.activity_ns << " ns, " << sample.activity_kernels
                << " kernels\n";
    }
    return samples ? *samples : std::vector<RawSample>();
  }
  // Events read 4 to 5 us more than the begin and end of the kernel between them, and some per launch.
  static void expect_agreement(const std::vector<RawSample>& samples, std::int64_t kernels) {
    ASSERT_EQ(samples.size(), 4U);
    for (const RawSample& sample : samples) {
      EXPECT_EQ(sample.activity_kernels, kernels);
      EXPECT_GE(sample.device_ns, 0.999 * static_cast<double>(sample.activity_ns) - 1'000);
      EXPECT_LE(sample.device_ns,
                1.05 * static_cast<double>(sample.activity_ns) + 10'000 + 200.0 * static_cast<double>(kernels));
    }
  }
  // Host nanoseconds of one launch, the best of some samples.
  double launch_cost(bool activity) {
    constexpr int kLaunches = 1000;
    const auto samples =
        worker_->run({.order = std::vector<int>(9, 0), .repetitions = kLaunches, .activity = activity});
    EXPECT_TRUE(samples) << samples.failure().evidence;
    double best = std::numeric_limits<double>::infinity();
    for (const RawSample& sample : samples ? *samples : std::vector<RawSample>()) {
      best = std::min(best, static_cast<double>(sample.end_ns - sample.begin_ns) / kLaunches);
    }
    return best;
  }

  std::unique_ptr<testing::CopyOnGpu> gpu_;
  Worker* worker_ = nullptr;  // its own
};

TEST_F(ActivityClock, AgreesWithTheEventsAboutAMillisecond) {
  load_warm({"k"}, kernel("k", kMillisecond));
  const auto samples = record(1);
  expect_agreement(samples, 1);
  for (const RawSample& sample : samples) {
    EXPECT_GT(sample.activity_ns, 500'000);
    EXPECT_LT(sample.activity_ns, 5'000'000);
  }
}

TEST_F(ActivityClock, AgreesWithTheEventsAboutShortCallsBackToBack) {
  load_warm({"k"}, kernel("k", kFiveMicroseconds));
  for (const int repetitions : {1, 20, 500}) {  // 500: more than may wait behind the gate
    expect_agreement(record(repetitions), repetitions);
    expect_agreement(record(repetitions, CachePolicy::cold), repetitions);
  }
}

TEST_F(ActivityClock, LeavesOutPoisonAndFlush) {
  load_warm({"k"}, kernel("k", kFiveMicroseconds));
  for (const RawSample& sample : record(1, CachePolicy::cold)) {
    EXPECT_LT(sample.activity_ns, 25'000) << "flushing twice the L2 takes longer";
    EXPECT_GT(sample.activity_ns, 1'000);
  }
}

TEST_F(ActivityClock, CountsEveryLaunchOfACall) {
  load_warm({"first", "second"}, kernel("first", kFiveMicroseconds) + kernel("second", kMillisecond));
  expect_agreement(record(1), 2);
  expect_agreement(record(7, CachePolicy::cold), 14);
}

TEST_F(ActivityClock, FollowsAModuleThatIsLoadedAnewForEverySample) {
  load_warm({"k"}, "__device__ int kept;\n" + kernel("k", kFiveMicroseconds + std::string(" + (kept++ & 1)")));
  expect_agreement(record(3), 3);
}

TEST_F(ActivityClock, LeavesNoSlowerLaunchesBehind) {
  load_warm({"k"}, "extern \"C\" __global__ void k(copy_args a) { if (threadIdx.x == 0) a.y[blockIdx.x] = a.x[0]; }\n");
  const double before = launch_cost(false);
  const double during = launch_cost(true);
  const double after = launch_cost(false);
  std::cout << "  a launch costs " << before << " ns before, " << during << " ns while it records, " << after
            << " ns after\n";
  EXPECT_LT(after, 1.5 * before);
  expect_agreement(record(1), 1);  // and it can be switched on again
}

TEST_F(ActivityClock, AFaultWhileItRecordsIsTheCandidatesAndHangsNothing) {
  load({"k"}, "extern \"C\" __global__ void k(copy_args a) { if (threadIdx.x == 99) (a.y + (1LL << 40))[0] = 1; }\n");
  const auto samples = worker_->run({.order = {1}, .activity = true});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.failure().outcome, Outcome::faulted) << samples.failure().evidence;
  EXPECT_EQ(samples.failure().slot, 1);
}

TEST_F(ActivityClock, ThatIsNotThereLeavesTheEventsAndSaysWhy) {
  WorkerOptions without = testing::cuda_worker();
  without.environment = {"APO_CUPTI_LIBRARY=/nonexistent"};
  gpu_.reset();
  start(without);
  load_warm({"k"}, kernel("k", kFiveMicroseconds));
  const auto samples = worker_->run({.order = {0}, .activity = true});
  ASSERT_TRUE(samples) << samples.failure().evidence;
  expect_contains(worker_->activity_missing(), "CUPTI does not load: /nonexistent");
  EXPECT_EQ(samples->front().activity_ns, 0);
  EXPECT_GT(samples->front().device_ns, 0);
}

}  // namespace
}  // namespace apo
