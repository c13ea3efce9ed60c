// tests/worker/parent/samples_test.cpp - impossible time stamps are found.
#include "harness/worker/parent/samples.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

const RunRequest kRequest{.order = {0, 1}, .sets = {3, 2}};

std::vector<RawSample> honest() {
  return {{0, 3, 110, 120, 1000, 1100, 50, 60}, {1, 2, 130, 140, 1200, 1300, 70, 80}};
}

std::optional<std::string> mistake(const std::vector<RawSample>& samples) {
  return mistake_in(samples, kRequest, 100, 150);
}

TEST(Samples, HonestOnesPass) {
  EXPECT_EQ(mistake(honest()), std::nullopt);
}

TEST(Samples, MissingAndExtraOnesAreFound) {
  auto samples = honest();
  samples.pop_back();
  EXPECT_TRUE(mistake(samples));
  samples = honest();
  samples.push_back(samples.back());
  EXPECT_TRUE(mistake(samples));
}

TEST(Samples, AHostSampleHasNoDeviceTimeAndADeviceTimeFitsTheHosts) {
  auto samples = honest();
  samples[0].device_ns = 5;
  EXPECT_TRUE(mistake(samples)) << "a host candidate cannot have events";
  EXPECT_EQ(mistake_in(samples, kRequest, 100, 150, Target::cuda), std::nullopt);
  EXPECT_EQ(elapsed_ns(samples[0], Target::cuda), 5);
  EXPECT_EQ(elapsed_ns(samples[0], Target::host), 10);
  samples[0].device_ns = 11;
  EXPECT_TRUE(mistake_in(samples, kRequest, 100, 150, Target::cuda)) << "longer than the host waited";
  samples[0].device_ns = -1;
  EXPECT_TRUE(mistake_in(samples, kRequest, 100, 150, Target::cuda));
}

TEST(Samples, ASecondClockThatNobodyAskedForIsFound) {
  RunRequest recorded = kRequest;
  recorded.activity = true;
  auto samples = honest();
  samples[0].device_ns = 5;
  samples[0].activity_ns = 4;
  samples[0].activity_kernels = 1;
  EXPECT_EQ(mistake_in(samples, recorded, 100, 150, Target::cuda), std::nullopt);
  EXPECT_TRUE(mistake_in(samples, kRequest, 100, 150, Target::cuda)) << "not recorded";
  EXPECT_TRUE(mistake_in(samples, recorded, 100, 150)) << "a host candidate has no second clock";
  samples[0].activity_ns = -4;
  EXPECT_TRUE(mistake_in(samples, recorded, 100, 150, Target::cuda));
  samples[0].activity_ns = 4;
  samples[0].activity_kernels = -1;
  EXPECT_TRUE(mistake_in(samples, recorded, 100, 150, Target::cuda));
}

TEST(Samples, AnotherOrderIsFound) {
  auto samples = honest();
  samples[0].slot = 1;
  EXPECT_TRUE(mistake(samples));
  samples = honest();
  samples[1].set = 0;
  EXPECT_TRUE(mistake(samples));
}

TEST(Samples, StampsOutsideTheRequestAreFound) {
  EXPECT_TRUE(mistake_in(honest(), kRequest, 111, 150)) << "begins before it was asked for";
  EXPECT_TRUE(mistake_in(honest(), kRequest, 100, 139)) << "ends after the reply came";
}

TEST(Samples, StampsThatRunBackwardsAreFound) {
  for (std::int64_t RawSample::*stamp : {&RawSample::begin_ns, &RawSample::begin_cpu_ns}) {
    auto samples = honest();
    samples[1].*stamp = samples[0].*stamp;
    EXPECT_TRUE(mistake(samples));
  }
  auto samples = honest();
  samples[0].end_ticks = 999;
  EXPECT_TRUE(mistake(samples));
  samples = honest();
  samples[1].begin_ticks = 1050;
  EXPECT_TRUE(mistake(samples)) << "overlaps the sample before";
}

TEST(Samples, APauseThatIsRewrittenIsFound) {
  const auto all = honest();
  EXPECT_TRUE(begins_with(all, {all[0]}));
  EXPECT_FALSE(begins_with(all, {all[1]}));
  EXPECT_FALSE(begins_with({all[0]}, all));
}

}  // namespace
}  // namespace apo
