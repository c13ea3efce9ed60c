// tests/cuda/correctness_test.cpp - the gate on a real GPU: shared workers, and what the driver loads against the
// build.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <thread>

#include "harness/core/error.h"
#include "harness/evaluate/correctness/check_case.h"
#include "harness/worker/cupti/cupti.h"
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
  // A worker that watches, with the build loaded, its tensors attached, and one call made; null after a failure.
  std::unique_ptr<Worker> called(const Build& build, SharedTensors& shared_tensors) {
    WorkerOptions options = cuda_worker();
    options.watch_modules = true;
    auto worker = std::make_unique<Worker>(options);
    const auto loaded = worker->load(0, build.object_path, build.plan);
    EXPECT_TRUE(loaded) << loaded.failure().evidence;
    const auto attached = worker->attach(shared_tensors);
    EXPECT_TRUE(attached) << attached.failure().evidence;
    const auto sample = worker->call(0);
    EXPECT_TRUE(sample) << sample.failure().evidence;
    return worker->watch_missing().empty() ? std::move(worker) : nullptr;
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

TEST_F(GpuCorrectness, TheDriverLoadsWhatWasBuiltForEveryCase) {
  std::string missing;
  if (cupti::load_library(missing) == nullptr) {
    GTEST_SKIP() << missing;
  }
  const GateResult result = gate("copy/cuda_vector4");
  const std::string said =
      "the driver loaded the machine code that was built for " + std::to_string(plan_.size()) + " of them";
  expect_contains(result.evidence, said);
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

TEST_F(GpuCorrectness, TheImageOfAnHonestBuildIsTheFileByteForByte) {
  const Build build = cuda_->build("copy/cuda_simple");
  SharedTensors tensors = shared_tensors();
  const auto worker = called(build, tensors);
  if (worker == nullptr) {
    GTEST_SKIP() << "no CUPTI here";
  }
  const auto images = worker->loaded_images(0);
  ASSERT_TRUE(images) << images.failure().evidence;
  ASSERT_EQ(images->size(), 1u);
  const std::string built = read_file(build.object_path);
  std::cout << "built " << built.size() << " bytes, loaded " << images->front().size() << " bytes, "
            << (images->front() == built ? "the same" : "others") << "\n";
  EXPECT_FALSE(compare_loaded(*images, built, runtime_.code_of))
      << compare_loaded(*images, built, runtime_.code_of)->evidence;
}

TEST_F(GpuCorrectness, CodeThatTheDriverCompiledFromPtxIsNotWhatWasBuilt) {
  Build build = cuda_->build("copy/cuda_simple");
  const std::string built = read_file(build.object_path);
  const TemporaryFolder folder("apo-ptx");
  const std::string kernel = build.plan.launches.front().kernel;
  // Of the size of the argument struct of `copy`: x, y, n.
  write_file_atomically(folder.path() / "a.ptx", ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry " +
                                                     kernel + "(.param .align 8 .b8 a[24]) { ret; }\n");
  build.object_path = (folder.path() / "a.ptx").string();
  SharedTensors tensors = shared_tensors();
  const auto worker = called(build, tensors);
  if (worker == nullptr) {
    GTEST_SKIP() << "no CUPTI here";
  }
  const auto images = worker->loaded_images(0);
  ASSERT_TRUE(images) << images.failure().evidence;
  ASSERT_EQ(images->size(), 1u) << "what the driver made of it";
  const auto failure = compare_loaded(*images, built, runtime_.code_of);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::faulted);
  const auto itself = compare_loaded(*images, read_file(build.object_path), runtime_.code_of);
  ASSERT_TRUE(itself);
  expect_contains(itself->evidence, "it compiled that itself");
}

TEST_F(GpuCorrectness, AWorkerThatTimesWatchesNothing) {
  Worker worker(cuda_worker());
  EXPECT_EQ(worker.watch_missing(), "nobody asked for it");
}

}  // namespace
}  // namespace apo
