// tests/cuda/sanitizer_test.cpp - compute-sanitizer itself on a real GPU: honest variants and those it must find.
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "tests/cuda/cuda_runtime_fixture.h"

namespace apo {
namespace {

using testing::cuda_worker;
using testing::CudaRuntime;

class DeviceSanitizers : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      cuda_ = std::make_unique<CudaRuntime>();
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  GateResult gate(const std::string& variant, const std::vector<std::string>& tools) {
    Runtime& runtime = cuda_->runtime();
    runtime.device_sanitizers = tools;
    return SanitizerTools(runtime, 11).run({variant, {}}, cuda_->ragged());
  }
  bool has_tool() { return !cuda_->runtime().compute_sanitizer.empty(); }

  std::unique_ptr<CudaRuntime> cuda_;
};

TEST_F(DeviceSanitizers, FindNothingInHonestVariants) {
  if (!has_tool()) {
    GTEST_SKIP() << "no compute-sanitizer here";
  }
  for (const char* variant : {"copy/cuda_simple", "copy/cuda_vector4"}) {
    const GateResult result = gate(variant, {"memcheck", "racecheck", "initcheck", "synccheck"});
    EXPECT_EQ(result.outcome, Outcome::valid) << variant << ": " << result.evidence;
    RecordProperty(variant, result.evidence);
  }
}

TEST_F(DeviceSanitizers, MemcheckFindsAReadPastTheEndWithItsLine) {
  if (!has_tool()) {
    GTEST_SKIP() << "no compute-sanitizer here";
  }
  const GateResult result = gate("copy/reads_past_the_end", {"memcheck"});
  EXPECT_EQ(result.outcome, Outcome::incorrect) << result.evidence;
  for (const char* part :
       {"Invalid __global__ read of size 4 bytes", "reads_past_the_end.cu:", "by thread (0,0,0)", "4004 bytes"}) {
    EXPECT_NE(result.evidence.find(part), std::string::npos) << part << " in: " << result.evidence;
  }
}

TEST_F(DeviceSanitizers, RacecheckFindsAMissingBarrierWithBothLines) {
  if (!has_tool()) {
    GTEST_SKIP() << "no compute-sanitizer here";
  }
  const GateResult result = gate("copy/missing_barrier", {"racecheck"});
  EXPECT_EQ(result.outcome, Outcome::incorrect) << result.evidence;
  EXPECT_NE(result.evidence.find("race between"), std::string::npos) << result.evidence;
  EXPECT_NE(result.evidence.find("missing_barrier.cu:"), std::string::npos) << result.evidence;
}

TEST_F(DeviceSanitizers, InitcheckFindsScratchThatNobodyWrote) {
  if (!has_tool()) {
    GTEST_SKIP() << "no compute-sanitizer here";
  }
  cuda_->add(
      "// apo:variant copy/reads_empty_scratch\n// apo:target cuda\n// apo:technique t\n// apo:idea i\n"
      "// apo:scratch memo 1024\n// apo:launch k grid=ceil_div(n,256) block=256\n#include \"copy.args.h\"\n"
      "extern \"C\" __global__ void k(copy_args a) {\n  const long long i = 256LL * blockIdx.x + threadIdx.x;\n"
      "  (void)static_cast<const volatile float*>(a.memo)[threadIdx.x];\n"
      "  if (i < a.n) a.y[i] = a.x[i];\n}\n");
  const GateResult result = gate("copy/reads_empty_scratch", {"initcheck"});
  EXPECT_EQ(result.outcome, Outcome::incorrect) << result.evidence;
  EXPECT_NE(result.evidence.find("Uninitialized __global__ memory read"), std::string::npos) << result.evidence;
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
