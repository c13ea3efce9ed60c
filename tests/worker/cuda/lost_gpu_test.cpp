// tests/worker/cuda/lost_gpu_test.cpp - a GPU that fails under a candidate is not the candidate's failure.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "harness/core/error.h"
#include "harness/worker/parent/worker.h"
#include "tests/worker/candidates.h"
#include "tests/worker/cuda/losing_driver.h"

namespace apo::testing {
namespace {

using std::chrono::milliseconds;

class LostGpu : public ::testing::Test {
 protected:
  LostGpu() : shared_tensors_(spec()), object_(folder_.path() / "a.cubin") { write_file_atomically(object_, "cubin"); }

  static SharedTensorsSpec spec() {
    SharedTensorsSpec spec = copy_tensors(1);
    spec.alignment = 256;
    return spec;
  }
  // Calls a kernel until something happens; the driver runs nothing.
  Result<RawSample> call(const std::string& plan) {
    driver_.plan(plan);
    Worker worker(options(kPatience));
    load(worker);
    Result<RawSample> sample = Failure{};
    for (int i = 0; i < 3; ++i) {
      sample = worker.call(0);
      if (!sample) {
        break;
      }
    }
    return sample;
  }
  WorkerOptions options(milliseconds deadline) const {
    return {.program = APO_WORKER_PROGRAM,
            .target = Target::cuda,
            .environment = {driver_.environment()},
            .deadline = deadline};
  }
  void load(Worker& worker) {
    const LaunchPlan launch{.launches = {{.kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}}}};
    const auto loaded = worker.load(0, object_, launch, kPatience);
    EXPECT_TRUE(loaded) << loaded.failure().evidence;
    const auto attached = worker.attach(shared_tensors_, kPatience);
    EXPECT_TRUE(attached) << attached.failure().evidence;
  }
  std::string loss(const std::string& plan) {
    try {
      const auto sample = call(plan);
      return sample ? "nothing happened" : "blamed the candidate: " + sample.failure().evidence;
    } catch (const DeviceLost& lost) {
      EXPECT_NE(lost.hint().find("apo doctor"), std::string::npos) << lost.hint();
      return lost.what();
    }
  }

  LosingDriver driver_;
  TemporaryFolder folder_;
  SharedTensors shared_tensors_;
  std::filesystem::path object_;
};

TEST_F(LostGpu, WorksUntilItIsLost) {
  const auto sample = call("");
  ASSERT_TRUE(sample) << sample.failure().evidence;
  EXPECT_EQ(sample->device_ns, 10'000);
}

TEST_F(LostGpu, AGpuThatVanishesIsNamedWithWhatANewProcessSees) {
  const std::string lost = loss("2 vanishes");
  EXPECT_NE(lost.find("the GPU was lost, GPU of a test (GPU-01020300-"), std::string::npos) << lost;
  EXPECT_NE(lost.find("CUDA_ERROR_UNKNOWN"), std::string::npos) << lost;
  EXPECT_NE(lost.find("CUDA_ERROR_NO_DEVICE"), std::string::npos) << lost;
}

TEST_F(LostGpu, ALaunchFailureOnAGpuThatWorksOnIsTheCandidates) {
  for (const Result<RawSample>& sample : {call("0 fails 719"), call("0 fails 999")}) {
    ASSERT_FALSE(sample);
    EXPECT_EQ(sample.failure().outcome, Outcome::faulted);
    EXPECT_EQ(sample.failure().slot, 0);
  }
}

TEST_F(LostGpu, ErrorsThatNoKernelCanCauseAreTheGpus) {
  for (const char* code : {"214", "709", "46", "806"}) {
    EXPECT_TRUE(loss("1 fails " + std::string(code)).starts_with("the GPU failed, GPU of a test")) << code;
  }
}

TEST_F(LostGpu, AMissingAnswerFromAGpuThatWorksOnIsTheCandidates) {
  driver_.plan("");
  Worker worker(options(kPatience));
  load(worker);
  driver_.plan("0 stalls");
  const auto sample = worker.call(0, 0, milliseconds(300));
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.failure().outcome, Outcome::timed_out);
}

TEST_F(LostGpu, ADriverThatHangsInEveryProcessIsALostGpu) {
  driver_.plan("");
  Worker worker(options(milliseconds(1000)));
  load(worker);
  driver_.plan("0 hangs");
  driver_.take_away();
  std::string lost;
  try {
    worker.call(0).value();
  } catch (const DeviceLost& error) {
    lost = error.what();
  }
  EXPECT_NE(lost.find("the GPU was lost"), std::string::npos) << lost;
  EXPECT_NE(lost.find("no answer in 1000 ms during the call"), std::string::npos) << lost;
  EXPECT_NE(lost.find("during its start"), std::string::npos) << lost;
}

}  // namespace
}  // namespace apo::testing
