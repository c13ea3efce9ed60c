// tests/cuda/profile_test.cpp - a whole profile on a real GPU: every rung is there, one process after the other.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/profile/measure.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/loop/stages.h"

namespace apo {
namespace {

struct CudaProfile : ::testing::Test {
  void SetUp() override {
    try {
      gpu.emplace();
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    runtime = gpu->runtime();
    runtime.sources = [](const Configuration&) { return std::vector<SourceFile>(); };
  }

  Profile profile(const std::string& variant) {
    auto asked = std::make_unique<Worker>(testing::cuda_worker());
    const Machine machine = describe_cuda(*asked->device());
    runtime.worker_pool->keep(std::move(asked));
    SilentObserver observer;
    const auto begin = std::chrono::steady_clock::now();
    Profile measured = measure_profile(runtime, {variant, {}}, *find_workload(gpu->family(), "n1001"), machine, {},
                                       CachePolicy::cold, observer);
    runtime.worker_pool->clear();
    RecordProperty("seconds",
                   std::to_string(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
    return measured;
  }

  std::optional<testing::CudaRuntime> gpu;
  Runtime runtime;
};

TEST_F(CudaProfile, IsWholeWithOneSetOfTensorsForAllItsProcesses) {
  const testing::Stages stages;
  const Profile measured = profile("copy/cuda_simple");
  if (!measured.missing.empty()) {
    GTEST_SKIP() << measured.missing;
  }
  EXPECT_EQ(measured.rung, "counters+pc");
  EXPECT_FALSE(measured.counts.empty());
  EXPECT_EQ(stages.about({"lay out"}).size(), 1U);
  EXPECT_EQ(stages.about({"start of"}).size(), 4U);
}

TEST_F(CudaProfile, AFaultIsSaidAndLeavesTheGpuToTheNextProfile) {
  gpu->add(
      "// apo:variant   copy/faults_when_profiled\n"
      "// apo:target    cuda sm_80\n"
      "// apo:technique zoo\n"
      "// apo:idea      Writes where nothing is.\n"
      "// apo:launch    fault grid=1 block=1\n"
      "#include \"copy.args.h\"\n"
      "extern \"C\" __global__ void fault(copy_args) { *reinterpret_cast<volatile int*>(8) = 1; }\n");
  EXPECT_THROW(profile("copy/faults_when_profiled"), EnvironmentError);
  EXPECT_GT(profile("copy/cuda_simple").time_ns, 0);
}

}  // namespace
}  // namespace apo
