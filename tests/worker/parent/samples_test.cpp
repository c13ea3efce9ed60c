// tests/worker/parent/samples_test.cpp - impossible time stamps are found.
#include <gtest/gtest.h>

#include "harness/worker/parent/evidence.h"

namespace apo {
namespace {

const RunRequest kRequest{.order = {0, 1}, .sets = {3, 2}};

std::vector<RawSample> honest() {
  return {{.slot = 0, .set = 3, .begin_ns = 110, .end_ns = 120}, {.slot = 1, .set = 2, .begin_ns = 130, .end_ns = 140}};
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
  auto samples = honest();
  samples[1].begin_ns = samples[0].begin_ns;
  EXPECT_TRUE(mistake(samples)) << "overlaps the sample before";
  samples = honest();
  samples[0].end_ns = samples[0].begin_ns - 1;
  EXPECT_TRUE(mistake(samples));
}

TEST(Samples, APauseThatIsRewrittenIsFound) {
  const auto all = honest();
  EXPECT_TRUE(begins_with(all, {all[0]}));
  EXPECT_FALSE(begins_with(all, {all[1]}));
  EXPECT_FALSE(begins_with({all[0]}, all));
}

}  // namespace
}  // namespace apo
