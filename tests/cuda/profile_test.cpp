// tests/cuda/profile_test.cpp - a whole profile on a real GPU: every rung is there, one process after the other.
#include <gtest/gtest.h>

#include <chrono>

#include "harness/core/error.h"
#include "harness/core/system/machine.h"
#include "harness/profile/measure.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/loop/stages.h"

namespace apo {
namespace {

struct CudaProfile : testing::CudaTest {
  void SetUp() override {
    CudaTest::SetUp();
    if (cuda_ == nullptr) {
      return;
    }
    runtime = cuda_->runtime();
    runtime.sources = [](const Configuration&) { return std::vector<SourceFile>(); };
  }

  Profile profile(const std::string& variant) {
    auto asked = std::make_unique<Worker>(testing::cuda_worker());
    const Machine machine = describe_cuda(*asked->device());
    runtime.worker_pool->keep(std::move(asked));
    SilentObserver observer;
    const auto begin = std::chrono::steady_clock::now();
    Profile measured = measure_profile(runtime, {variant, {}}, *find_workload(cuda_->family(), "n1001"), machine, {},
                                       CachePolicy::cold, observer);
    runtime.worker_pool->clear();
    RecordProperty("seconds",
                   std::to_string(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
    return measured;
  }

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

TEST_F(CudaProfile, HasEachLaunchOfARecordedCall) {
  cuda_->add(
      "// apo:variant copy/in_two_launches\n// apo:target cuda\n"
      "__global__ void part(const float* x, float* y, long long n, long long from) {\n"
      "  for (long long i = 2 * (256LL * blockIdx.x + threadIdx.x) + from; i < n; i += 512LL * gridDim.x) y[i] = "
      "x[i];\n"
      "}\n"
      "void copy(const float* x, float* y, long long n, cudaStream_t stream) {\n"
      "  cudaMemsetAsync(y, 0, 4 * n, stream);\n  part<<<8, 256, 0, stream>>>(x, y, n, 0);\n"
      "  part<<<8, 256, 0, stream>>>(x, y, n, 1);\n}\n");
  const Profile measured = profile("copy/in_two_launches");
  if (!measured.missing.empty()) {
    GTEST_SKIP() << measured.missing;
  }
  ASSERT_EQ(measured.launches.size(), 2U);
  for (const ProfiledLaunch& one : measured.launches) {
    EXPECT_EQ(one.kernel, "part(float const*, float*, long long, long long)");
    EXPECT_GT(one.time_ns, 0);
    EXPECT_LT(one.time_ns, measured.time_ns);
  }
}

TEST_F(CudaProfile, AFaultIsSaidAndLeavesTheGpuToTheNextProfile) {
  cuda_->add(testing::copy_source(
      {"launch fault grid=1 block=1"},
      "extern \"C\" __global__ void fault(copy_args) { *reinterpret_cast<volatile int*>(8) = 1; }\n",
      "faults_when_profiled"));
  EXPECT_THROW(profile("copy/faults_when_profiled"), EnvironmentError);
  EXPECT_GT(profile("copy/cuda_simple").time_ns, 0);
}

}  // namespace
}  // namespace apo
