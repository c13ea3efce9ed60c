// tests/cuda/sanitizer_test.cpp - compute-sanitizer itself on a real GPU: honest variants and those it must find.
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/text.h"

namespace apo {
namespace {

using testing::cuda_worker;

class DeviceSanitizers : public testing::CudaTest {
 protected:
  GateResult gate(const std::string& variant, const std::vector<std::string>& tools) {
    Runtime& runtime = cuda_->runtime();
    runtime.device_sanitizers = tools;
    return SanitizerTools(runtime, 11).run({variant, {}}, cuda_->ragged());
  }
};

#define APO_NEED_TOOL()                             \
  if (cuda_->runtime().compute_sanitizer.empty()) { \
    GTEST_SKIP() << "no compute-sanitizer here";    \
  }

TEST_F(DeviceSanitizers, FindNothingInHonestVariants) {
  APO_NEED_TOOL();
  for (const char* variant : {"copy/cuda_simple", "copy/cuda_vector4"}) {
    const GateResult result = gate(variant, {"memcheck", "racecheck", "initcheck", "synccheck"});
    EXPECT_EQ(result.outcome, Outcome::valid) << variant << ": " << result.evidence;
    RecordProperty(variant, result.evidence);
  }
}

TEST_F(DeviceSanitizers, MemcheckFindsAReadPastTheEndWithItsLine) {
  APO_NEED_TOOL();
  const GateResult result = gate("copy/reads_past_the_end", {"memcheck"});
  EXPECT_EQ(result.outcome, Outcome::incorrect) << result.evidence;
  for (const char* part :
       {"Invalid __global__ read of size 4 bytes", "reads_past_the_end.cu:", "by thread (0,0,0)", "4004 bytes"}) {
    EXPECT_NE(result.evidence.find(part), std::string::npos) << part << " in: " << result.evidence;
  }
}

TEST_F(DeviceSanitizers, RacecheckFindsAMissingBarrierWithBothLines) {
  APO_NEED_TOOL();
  const GateResult result = gate("copy/missing_barrier", {"racecheck"});
  EXPECT_EQ(result.outcome, Outcome::incorrect) << result.evidence;
  expect_contains(result.evidence, "race between");
  expect_contains(result.evidence, "missing_barrier.cu:");
}

TEST_F(DeviceSanitizers, InitcheckFindsScratchThatNobodyWrote) {
  APO_NEED_TOOL();
  cuda_->add(testing::copy_source(
      {"scratch memo 1024", "launch k grid=ceil_div(n,256) block=256"},
      "extern \"C\" __global__ void k(copy_args a) {\n  const long long i = 256LL * blockIdx.x + threadIdx.x;\n"
      "  (void)static_cast<const volatile float*>(a.memo)[threadIdx.x];\n  if (i < a.n) a.y[i] = a.x[i];\n}\n",
      "reads_empty_scratch"));
  const GateResult result = gate("copy/reads_empty_scratch", {"initcheck"});
  EXPECT_EQ(result.outcome, Outcome::incorrect) << result.evidence;
  expect_contains(result.evidence, "Uninitialized __global__ memory read");
}

TEST_F(DeviceSanitizers, AWatchedWorkerComputesTheSameFromTensorsOfTheirOwn) {
  WorkerOptions watched = cuda_worker();
  watched.environment = {std::string(kWatchedVariable) + "=1"};
  for (const char* variant : {"copy/cuda_simple", "copy/cuda_vector4"}) {
    const CheckResult result =
        check_build(cuda_->runtime(), {variant, {}}, cuda_->build(variant), cuda_->ragged(), 3, watched);
    EXPECT_EQ(result.outcome, Outcome::valid) << variant << ": " << result.evidence;
    EXPECT_EQ(result.calls, 2);
  }
}

}  // namespace
}  // namespace apo
