// tests/cuda/correctness_test.cpp - the gate on a real GPU: workers that several cases share.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <thread>

#include "harness/evaluate/correctness/check_case.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/text.h"

namespace apo {
namespace {

using testing::cuda_worker;

constexpr const char* kCopyKernel =
    "extern \"C\" __global__ void k(copy_args a) {\n  const long long i = 256LL * blockIdx.x + threadIdx.x;\n"
    "  if (i < a.n) a.y[i] = a.x[i];\n";

class GpuCorrectness : public testing::CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (cuda_ == nullptr) {
      return;
    }
    runtime_ = cuda_->runtime();
    runtime_.threads = static_cast<int>(std::thread::hardware_concurrency());
    plan_ = correctness_plan(cuda_->family(), {"n1m"}, 3);
  }
  GateResult gate(const std::string& variant) {
    const GateResult result = correctness_gate(runtime_, {variant, {}}, plan_, 3);
    for (const GateStep& step : result.steps) {
      std::cout << "  " << step.begin_s << " s to " << step.end_s << " s: " << step.what << "\n";
    }
    std::cout << variant << ": " << result.seconds << " s, " << result.evidence << "\n";
    return result;
  }

  Runtime runtime_;
  std::vector<CheckCase> plan_;
};

TEST_F(GpuCorrectness, OfADeviceVariantTellsItsSeconds) {
  const GateResult result = gate("copy/cuda_simple");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
  EXPECT_GT(result.seconds, 0);
  RecordProperty("seconds", std::to_string(result.seconds));
}

TEST_F(GpuCorrectness, AVariantThatIsWrongOnSomeSizesIsToldTheLineThatItLacks) {
  expect_contains(gate("copy/whole_vectors").evidence, "write the line 'apo:requires n % 4 == 0'");
}

TEST_F(GpuCorrectness, AFaultEndsItsWorkerAndTheNextVariantPasses) {
  EXPECT_EQ(gate("copy/illegal_address").outcome, Outcome::faulted);
  EXPECT_EQ(gate("copy/cuda_simple").outcome, Outcome::valid);
}

TEST_F(GpuCorrectness, ALibraryVariantIsCheckedWithoutItsHostCode) {
  if (find_toolkit_program("nvcc").empty()) {
    GTEST_SKIP() << "no nvcc here";
  }
  const GateResult result = gate("copy/library_synchronises");
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
  expect_contains(result.evidence, "candidate held by: device code only");
}

TEST_F(GpuCorrectness, NothingOfACaseReachesTheNextOneInItsWorker) {
  // Right in the two calls of a case, if its variable then starts as the source says.
  cuda_->add(testing::copy_source({"launch mark grid=1 block=1", "launch k grid=ceil_div(n,256) block=256"},
                                  std::string("__device__ int seen = 0;\n") + kCopyKernel +
                                      "  if (seen > 2 && i < a.n) a.y[i] = -1.0f;\n}\n" +
                                      "extern \"C\" __global__ void mark(copy_args) { ++seen; }\n",
                                  "remembers_across_modules"));
  WorkerPool worker_pool;
  CheckWorkers workers(cuda_worker(), 1, 7, worker_pool);
  GateSteps steps;
  std::set<int> pids;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CheckWorkers::Lease lease = workers.take();
    ASSERT_TRUE(lease);
    (*lease).await_start();
    CheckCase one = cuda_->ragged();
    one.regimes.resize(1);
    const auto inputs = case_inputs(runtime_, one, seed);
    const CheckResult result = check_in(*lease, runtime_, {"copy/remembers_across_modules", {}},
                                        cuda_->build("copy/remembers_across_modules"), one, inputs, seed, steps);
    EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
    pids.insert((*lease).pid());
    lease.keep();
  }
  EXPECT_EQ(pids.size(), 1u) << "one worker served all";
}

}  // namespace
}  // namespace apo
