// tests/cuda/scan_test.cpp - a scan on a real GPU: candidates share a context until one spoils it.
#include <gtest/gtest.h>

#include <iostream>

#include "harness/evaluate/scan/scan_process.h"
#include "tests/cuda/cuda_runtime_fixture.h"

namespace apo {
namespace {

class GpuScan : public testing::CudaTest {
 protected:
  TimedArm arm(const std::string& id) const {
    return {{id, {}}, cuda_->runtime().build({id, {}}, workload_.axes, false)};
  }
  const Workload& workload_ = *find_workload(*find_family("copy"), "n1m");
};

TEST_F(GpuScan, WhatSpoilsTheContextIsOutAndTheOthersAreMeasured) {
  constexpr ScanEffort kEffort{.seconds = 0.03, .most_blocks = 5};
  ScanProcess process(cuda_->runtime(), workload_, CachePolicy::cold, arm("copy/cuda_simple"), 1);
  for (const auto& [id, outcome] : {std::pair("copy/illegal_address", Outcome::faulted),
                                    {"copy/infinite_loop", Outcome::timed_out},
                                    {"copy/writes_nothing", Outcome::incorrect},
                                    {"copy/device_trap", Outcome::faulted}}) {
    const ScanTimes bad = process.measure(arm(id), kEffort);
    EXPECT_EQ(bad.outcome, outcome) << id << ": " << bad.evidence;
    const ScanTimes good = process.measure(arm("copy/cuda_vector4"), kEffort);
    ASSERT_EQ(good.outcome, Outcome::valid) << "behind " << id << ": " << good.evidence;
    EXPECT_GT(good.time_ns, 0);
    std::cout << "copy/cuda_vector4: " << good.time_ns << " ns, effect " << good.effect << " +- " << good.sd << "\n";
  }
  const ScanTimes itself = process.measure(arm("copy/cuda_simple"), kEffort);
  ASSERT_EQ(itself.outcome, Outcome::valid) << itself.evidence;
}

}  // namespace
}  // namespace apo
