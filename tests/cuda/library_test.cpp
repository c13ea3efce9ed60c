// tests/cuda/library_test.cpp - library variants on a real GPU: cuBLAS, hostile host code, and what their time holds.
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/zoo/says.h"

namespace apo {
namespace {

using testing::cuda_worker;

constexpr const char* kHead =
    "// apo:target cuda\n// apo:technique t\n// apo:idea i\n#include <fcntl.h>\n#include <sys/socket.h>\n"
    "#include \"copy.args.h\"\nAPO_EXPORT uint32_t apo_abi(void) { return APO_ABI_VERSION; }\n"
    "__global__ void k(copy_args a) {\n  const long long i = 256LL * blockIdx.x + threadIdx.x;\n"
    "  if (i < a.n) a.y[i] = a.x[i];\n}\n"
    "__global__ void spin(long long cycles) {\n  const long long start = clock64();\n"
    "  while (clock64() - start < cycles) {}\n}\n"
    "APO_EXPORT int apo_launch(const apo_call* call) {\n"
    "  const auto& args = *static_cast<const copy_args*>(call->arguments);\n"
    "  const auto stream = static_cast<cudaStream_t>(call->stream);\n"
    "  k<<<static_cast<unsigned>((args.n + 255) / 256), 256, 0, stream>>>(args);\n";

WorkerOptions patient(int seconds) {
  WorkerOptions options = cuda_worker();
  options.deadline = std::chrono::seconds(seconds);
  return options;
}

class CudaLibraries : public testing::CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (cuda_ != nullptr && find_toolkit_program("nvcc").empty()) {
      GTEST_SKIP() << "no nvcc here";
    }
  }
  Build added(const std::string& name, const std::string& end_of_launch) {
    cuda_->add("// apo:variant copy/" + name + "\n" + kHead + end_of_launch + "}\n");
    Build built = cuda_->build("copy/" + name);
    EXPECT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
    return built;
  }
};

TEST_F(CudaLibraries, CublasCopiesUnderConfinement) {
  const CheckResult result = check("copy/cuda_cublas_copy", patient(30));
  if (result.outcome == Outcome::refused) {
    GTEST_SKIP() << result.evidence;
  }
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
  EXPECT_TRUE(result.confinement.starts_with("host code, ")) << result.confinement;
  RecordProperty("confinement", result.confinement);
}

TEST_F(CudaLibraries, OfTheZooGetTheirOutcomes) {
  for (const char* name : {"library_synchronises", "library_refuses", "library_runs_a_program",
                           "library_faults_on_the_gpu", "library_hangs"}) {
    const std::string id = std::string("copy/") + name;
    const CheckResult result = check(id, patient(5));
    EXPECT_EQ(to_string(result.outcome), testing::zoo_says(cuda_->variant(id).source, "expect"))
        << name << result.evidence;
  }
}

TEST_F(CudaLibraries, MayNotOpenSocketsNorWriteFiles) {
  added("reaches_out",
        "  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 3;\n"
        "  return open(\"/tmp/apo-reached-out\", O_CREAT | O_WRONLY, 0600) >= 0 ? 4 : 0;\n");
  const CheckResult result = check("copy/reaches_out", patient(30));
  if (result.evidence.find("returned 4") != std::string::npos) {
    GTEST_SKIP() << "this kernel has no Landlock: " << result.evidence;
  }
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

// A second stream does not hide work from the events.
TEST_F(CudaLibraries, WorkOnAnotherStreamIsInTheTime) {
  const Build built = added("hides_work",
                            "  static cudaStream_t other = nullptr;\n"
                            "  if (other == nullptr) cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);\n"
                            "  spin<<<1, 1, 0, other>>>(10'000'000);\n  return 0;\n");
  Worker worker(cuda_worker());
  SharedTensors tensors = shared_tensors();
  ASSERT_TRUE(load_build(worker, 0, built));
  ASSERT_TRUE(worker.attach(tensors));
  const auto sample = worker.call(0);
  ASSERT_TRUE(sample) << sample.failure().evidence;
  EXPECT_GT(sample->device_ns, 3'000'000) << "ten million cycles take 3 ms even at 3 GHz";
}

TEST_F(CudaLibraries, ADeviceVariantWorksBesideALibrary) {
  const Build library = added("beside", "  return 0;\n");
  Worker worker(cuda_worker());
  SharedTensors tensors = shared_tensors();
  ASSERT_TRUE(load_build(worker, 0, cuda_->build("copy/cuda_simple")));
  EXPECT_EQ(worker.confinement(), "device code only");
  ASSERT_TRUE(load_build(worker, 1, library));
  EXPECT_TRUE(worker.confinement().starts_with("host code, ")) << worker.confinement();
  ASSERT_TRUE(worker.attach(tensors));
  const auto samples = worker.run({.order = {0, 1, 1, 0}, .repetitions = 3, .cache = CachePolicy::cold});
  ASSERT_TRUE(samples) << samples.failure().evidence;
  ASSERT_EQ(samples->size(), 4u);
  for (const RawSample& sample : *samples) {
    EXPECT_GT(sample.device_ns, 500);
  }
}

}  // namespace
}  // namespace apo
