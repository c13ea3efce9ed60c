// tests/cuda/recording_test.cpp - libraries that are called once, and then judged as what they put on a GPU.
#include <gtest/gtest.h>

#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/zoo/says.h"

namespace apo {
namespace {

constexpr const char* kRecordedHead =
    "// apo:target cuda\n// apo:technique t\n// apo:idea i\n#include \"copy.args.h\"\n"
    "APO_EXPORT uint32_t apo_abi(void) { return APO_ABI_VERSION; }\n"
    "__global__ void k(const float* x, float* y, long long n) {\n  const long long i = 256LL * blockIdx.x + "
    "threadIdx.x;\n"
    "  if (i < n) y[i] = x[i];\n}\n"
    "#define BLOCKS static_cast<unsigned>((a.n + 255) / 256)\n";

constexpr const char* kRecordedLaunch =
    "APO_EXPORT int apo_launch(const apo_call* call) {\n"
    "  const auto& a = *static_cast<const copy_args*>(call->arguments);\n"
    "  const auto stream = static_cast<cudaStream_t>(call->stream);\n  const size_t bytes = 4 * a.n;\n";

class Recordings : public testing::CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (cuda_ != nullptr && find_toolkit_program("nvcc").empty()) {
      GTEST_SKIP() << "no nvcc here";
    }
  }
  // Of a library with this code before and in its launch.
  Build recorded(const std::string& name, const std::string& before, const std::string& launch) {
    cuda_->add("// apo:variant copy/" + name + "\n" + kRecordedHead + before + kRecordedLaunch + launch + "}\n");
    return cuda_->build("copy/" + name);
  }
  CheckResult replayed(const std::string& id, const Build& build) {
    return check_build(cuda_->runtime(), {id, {}}, build, cuda_->ragged(), 5, testing::cuda_worker());
  }
  // Right on inputs that it has never seen, in a process without its host code.
  void expect_valid(const std::string& name, const std::string& before, const std::string& launch) {
    const Build build = recorded(name, before, launch);
    ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
    const CheckResult result = replayed("copy/" + name, build);
    EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
    EXPECT_EQ(result.confinement, "device code only");
  }
  void expect_refused(const std::string& name, const std::string& launch, const std::string& why) {
    const Build build = recorded(name, "", launch);
    EXPECT_EQ(build.outcome, Outcome::refused);
    EXPECT_NE(build.evidence.find(why), std::string::npos) << build.evidence;
  }
};

TEST_F(Recordings, AKernelIsLaunchedWithoutItsHostCode) {
  expect_valid("one_kernel", "", "  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n  return 0;\n");
}

TEST_F(Recordings, FillsCopiesAndOwnMemoryAreRepeatedInTheirOrder) {
  expect_valid("in_two_steps", "static float* own = nullptr;\n",
               "  if (own == nullptr) cudaMalloc(&own, bytes);\n  cudaMemsetAsync(own, 1, bytes, stream);\n"
               "  cudaMemcpyAsync(own, a.x, bytes, cudaMemcpyDeviceToDevice, stream);\n"
               "  k<<<BLOCKS, 256, 0, stream>>>(own, a.y, a.n);\n  return 0;\n");
}

TEST_F(Recordings, TablesThatTheFirstCallMakesAreThere) {
  expect_valid("has_a_table",
               "__constant__ float one;\n__device__ int calls;\n"
               "__global__ void times(const float* x, float* y, long long n) {\n"
               "  const long long i = 256LL * blockIdx.x + threadIdx.x;\n  if (i == 0) ++calls;\n"
               "  if (i < n) y[i] = one * x[i];\n}\nstatic bool made = false;\n",
               "  if (!made) { const float value = 1; cudaMemcpyToSymbol(one, &value, 4); made = true; }\n"
               "  times<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n  return 0;\n");
}

TEST_F(Recordings, OfCublasIsRightOnOtherInputs) {
  const Build build = cuda_->build("copy/cuda_cublas_copy");
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  const CheckResult result = replayed("copy/cuda_cublas_copy", build);
  EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
}

TEST_F(Recordings, AResultThatWasKeptIsWrongOnOtherInputs) {
  const Build build = recorded("keeps_its_result", "static float* kept = nullptr;\n",
                               "  if (kept == nullptr) { cudaMalloc(&kept, bytes);\n"
                               "    cudaMemcpy(kept, a.x, bytes, cudaMemcpyDeviceToDevice); }\n"
                               "  cudaMemcpyAsync(a.y, kept, bytes, cudaMemcpyDeviceToDevice, stream);\n  return 0;\n");
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  EXPECT_EQ(replayed("copy/keeps_its_result", build).outcome, Outcome::incorrect);
}

TEST_F(Recordings, WhatTheHostDoesWithTheNumbersIsRefused) {
  expect_refused("by_way_of_the_host",
                 "  static float host[1 << 20];\n  cudaMemcpy(host, a.x, bytes, cudaMemcpyDeviceToHost);\n"
                 "  cudaMemcpy(a.y, host, bytes, cudaMemcpyHostToDevice);\n  return 0;\n",
                 "no replay repeats such a call");
  expect_refused(
      "never_the_same",
      "  static unsigned calls = 0;\n  k<<<BLOCKS + ++calls, 256, 0, stream>>>(a.x, a.y, a.n);\n  return 0;\n",
      "no two of its calls launch the same");
  expect_refused("does_nothing", "  return 0;\n", "it gives the GPU no work");
}

// Captured once, on memory of its own.
constexpr const char* kOnOwnMemory =
    "static cudaGraphExec_t made = nullptr;\nstatic float *in, *out;\n"
    "static void nothing(void*) {}\n";

TEST_F(Recordings, OfACallThatLaunchesAGraphAreTheWorkOfItsNodes) {
  expect_valid(
      "has_a_graph", kOnOwnMemory,
      "  if (made == nullptr) {\n    cudaGraph_t graph;\n    cudaStream_t own;\n    cudaMalloc(&in, bytes);\n"
      "    cudaMalloc(&out, bytes);\n    cudaStreamCreate(&own);\n    k<<<BLOCKS, 256, 0, own>>>(a.x, a.y, a.n);\n"
      "    cudaStreamBeginCapture(own, cudaStreamCaptureModeGlobal);\n"
      "    cudaMemsetAsync(out, 1, bytes, own);\n    k<<<BLOCKS, 256, 0, own>>>(in, out, a.n);\n"
      "    cudaMemcpyAsync(in, out, bytes, cudaMemcpyDeviceToDevice, own);\n"
      "    cudaStreamEndCapture(own, &graph);\n    cudaGraphInstantiate(&made, graph, 0);\n"
      "    cudaGraphDestroy(graph);\n  }\n"
      "  cudaMemcpyAsync(in, a.x, bytes, cudaMemcpyDeviceToDevice, stream);\n  cudaGraphLaunch(made, stream);\n"
      "  cudaMemcpyAsync(a.y, in, bytes, cudaMemcpyDeviceToDevice, stream);\n  return 0;\n");
  expect_valid("makes_a_graph", "",
               "  cudaGraph_t graph;\n  cudaGraphExec_t made;\n  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n"
               "  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
               "  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n  cudaStreamEndCapture(stream, &graph);\n"
               "  cudaGraphInstantiate(&made, graph, 0);\n  cudaGraphLaunch(made, stream);\n"
               "  cudaGraphExecDestroy(made);\n  cudaGraphDestroy(graph);\n  return 0;\n");
}

TEST_F(Recordings, OfAGraphThatCallsTheHostAreRefused) {
  const Build build =
      recorded("calls_the_host", kOnOwnMemory,
               "  if (made == nullptr) {\n    cudaGraph_t graph;\n    cudaStream_t own;\n    cudaStreamCreate(&own);\n"
               "    cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed);\n"
               "    cudaLaunchHostFunc(own, nothing, nullptr);\n    cudaStreamEndCapture(own, &graph);\n"
               "    cudaGraphInstantiate(&made, graph, 0);\n  }\n  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n"
               "  cudaGraphLaunch(made, stream);\n  return 0;\n");
  EXPECT_EQ(build.outcome, Outcome::refused);
  EXPECT_NE(build.evidence.find("calls a function of the host"), std::string::npos) << build.evidence;
}

constexpr const char* kTimes =
    "static float* own = nullptr;\nstatic float one = 1;\n"
    "__global__ void times(const float* x, float* y, const float* one, long long n) {\n"
    "  const long long i = 256LL * blockIdx.x + threadIdx.x;\n  if (i < n) y[i] = *one * x[i];\n}\n";

TEST_F(Recordings, CopyConstantsFromTheHostInEveryReplay) {
  const std::string launch =
      "  if (own == nullptr) cudaMalloc(&own, 4);\n  cudaMemcpyAsync(own, &one, 4, cudaMemcpyHostToDevice, stream);\n"
      "  times<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, own, a.n);\n  return 0;\n";
  expect_valid("copies_a_constant", kTimes, launch);
  Build build = recorded("copies_a_constant", kTimes, launch);
  build.plan.graph = true;
  EXPECT_EQ(replayed("copy/copies_a_constant", build).outcome, Outcome::valid);
  const Build computed = recorded("copies_what_it_computes", kTimes, "  one *= 1.0001f;\n" + launch);
  EXPECT_EQ(computed.outcome, Outcome::refused);
  EXPECT_NE(computed.evidence.find("the host computes what it copies"), std::string::npos) << computed.evidence;
}

TEST_F(Recordings, OfThousandsOfLaunchesAreRight) {
  expect_valid("launches_often", "",
               "  for (int i = 0; i < 3000; ++i) k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n  return 0;\n");
}

TEST_F(Recordings, MemoryOfTheCallThatIsReadUnwrittenIsSeen) {
  const Build build = recorded("reads_unwritten", "",
                               "  float* own = nullptr;\n  cudaMallocAsync(&own, bytes, stream);\n"
                               "  cudaMemcpyAsync(own, a.x, bytes / 2, cudaMemcpyDeviceToDevice, stream);\n"
                               "  k<<<BLOCKS, 256, 0, stream>>>(own, a.y, a.n);\n  cudaFreeAsync(own, stream);\n"
                               "  return 0;\n");
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  EXPECT_EQ(replayed("copy/reads_unwritten", build).outcome, Outcome::incorrect);
}

TEST_F(Recordings, ThatReachOutOfTheTensorsAreNotLaunched) {
  Build build = recorded("reaches_far", "", "  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n  return 0;\n");
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  std::optional<RecordedCall> call = decode_recorded_call(read_file(build.object_path));
  ASSERT_TRUE(call);
  call->operations.front().kernel->places.front().offset = std::int64_t{1} << 40;
  build.object_path += ".far";
  write_file_atomically(build.object_path, encode(*call));
  build.object_hash = sha256(read_file(build.object_path));
  Worker worker(testing::cuda_worker());
  SharedTensors tensors = shared_tensors();
  ASSERT_TRUE(load_build(worker, 0, build));
  const auto attached = worker.attach(tensors);
  ASSERT_FALSE(attached);
  EXPECT_NE(attached.failure().evidence.find("outside of the tensors"), std::string::npos);
}

TEST_F(Recordings, AsAGraphAreRightAndTimedInOneLaunch) {
  Build build = recorded("two_kernels", "",
                         "  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n"
                         "  cudaMemcpyAsync(a.y, a.x, bytes, cudaMemcpyDeviceToDevice, stream);\n  return 0;\n");
  Build device = cuda_->build("copy/cuda_simple");
  for (Build* const one : {&build, &device}) {
    ASSERT_EQ(one->outcome, Outcome::valid) << one->evidence;
    one->plan.graph = true;
  }
  EXPECT_EQ(replayed("copy/two_kernels", build).outcome, Outcome::valid);
  EXPECT_EQ(replayed("copy/cuda_simple", device).outcome, Outcome::valid);
  Worker worker(testing::cuda_worker());
  SharedTensors tensors = shared_tensors();
  ASSERT_TRUE(load_build(worker, 0, build));
  ASSERT_TRUE(load_build(worker, 1, device));
  ASSERT_TRUE(worker.attach(tensors));
  // 64 calls are in the queue behind the gate; 2000 are more than it takes.
  for (const int repetitions : {1, 64, 2000}) {
    for (const CachePolicy cache : {CachePolicy::cold, CachePolicy::warm}) {
      const auto samples = worker.run({.order = {0, 1, 1, 0}, .repetitions = repetitions, .cache = cache});
      ASSERT_TRUE(samples) << samples.failure().evidence;
      EXPECT_EQ(samples->size(), 4U);
    }
  }
}

TEST_F(Recordings, AddressesInMemoryAreRefused) {
  const Build build =
      recorded("follows_pointers",
               "static float** table = nullptr;\n"
               "__global__ void by_table(float** table, const float* x, float* y, long long n) {\n"
               "  const long long i = 256LL * blockIdx.x + threadIdx.x;\n"
               "  if (i < n) { table[0][i % 256] = x[i]; y[i] = x[i]; }\n}\n",
               "  if (table == nullptr) {\n    float* other = nullptr;\n    cudaMalloc(&other, 1024);\n"
               "    cudaMalloc(&table, 8);\n    cudaMemcpy(table, &other, 8, cudaMemcpyHostToDevice);\n  }\n"
               "  by_table<<<BLOCKS, 256, 0, stream>>>(table, a.x, a.y, a.n);\n  return 0;\n");
  EXPECT_EQ(build.outcome, Outcome::refused);
  EXPECT_NE(build.evidence.find("an address lies at byte 0"), std::string::npos) << build.evidence;
}

TEST_F(Recordings, OfAnotherModelOfGpuAreRefused) {
  Build build = recorded("of_another_gpu", "", "  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n  return 0;\n");
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  std::optional<RecordedCall> call = decode_recorded_call(read_file(build.object_path));
  ASSERT_TRUE(call);
  call->device = "Another GPU";
  build.object_path += ".other";
  write_file_atomically(build.object_path, encode(*call));
  build.object_hash = sha256(read_file(build.object_path));
  Worker worker(testing::cuda_worker());
  const auto loaded = load_build(worker, 0, build);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.failure().outcome, Outcome::refused);
  EXPECT_NE(loaded.failure().evidence.find("it was recorded on Another GPU"), std::string::npos);
}

TEST_F(Recordings, WorkOnAnotherStreamIsInTheTimeBesideADeviceVariant) {
  const Build build =
      recorded("on_its_own_stream",
               "static cudaStream_t own = nullptr;\nstatic cudaEvent_t before;\n"
               "__global__ void spin(const float* x, float* y, long long n, long long cycles) {\n"
               "  for (const long long start = clock64(); clock64() - start < cycles;) {}\n"
               "  for (long long i = threadIdx.x; i < n; i += 256) y[i] = x[i];\n}\n",
               "  if (own == nullptr) {\n"
               "    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);\n    cudaEventCreate(&before);\n  }\n"
               "  cudaEventRecord(before, stream);\n  cudaStreamWaitEvent(own, before, 0);\n"
               "  spin<<<1, 256, 0, own>>>(a.x, a.y, a.n, 10'000'000);\n"
               "  cudaEventRecord(before, own);\n  cudaStreamWaitEvent(stream, before, 0);\n  return 0;\n");
  ASSERT_EQ(build.outcome, Outcome::valid) << build.evidence;
  Worker worker(testing::cuda_worker());
  SharedTensors tensors = shared_tensors();
  ASSERT_TRUE(load_build(worker, 0, build));
  ASSERT_TRUE(load_build(worker, 1, cuda_->build("copy/cuda_simple")));
  EXPECT_EQ(worker.confinement(), "device code only");
  ASSERT_TRUE(worker.attach(tensors));
  const auto samples = worker.run({.order = {0, 1, 1, 0}, .repetitions = 3, .cache = CachePolicy::cold});
  ASSERT_TRUE(samples) << samples.failure().evidence;
  for (const RawSample& sample : *samples) {
    EXPECT_GT(sample.device_ns, sample.slot == 0 ? 9'000'000 : 500) << "ten million cycles take 3 ms even at 3 GHz";
  }
}

TEST_F(Recordings, HostCodeMayNotOpenSocketsNorWriteFiles) {
  const Build build = recorded("reaches_out", "#include <fcntl.h>\n#include <sys/socket.h>\n",
                               "  k<<<BLOCKS, 256, 0, stream>>>(a.x, a.y, a.n);\n"
                               "  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 3;\n"
                               "  return open(\"/tmp/apo-reached-out\", O_CREAT | O_WRONLY, 0600) >= 0 ? 4 : 0;\n");
  if (build.evidence.find("returned 4") != std::string::npos) {
    GTEST_SKIP() << "this kernel has no Landlock: " << build.evidence;
  }
  EXPECT_EQ(build.outcome, Outcome::valid) << build.evidence;
}

TEST_F(Recordings, OfTheZooGetTheirOutcomes) {
  for (const char* name : {"library_synchronises", "library_refuses", "library_runs_a_program",
                           "library_faults_on_the_gpu", "library_hangs"}) {
    const std::string id = std::string("copy/") + name;
    const CheckResult result = check(id);
    EXPECT_EQ(to_string(result.outcome), testing::zoo_says(cuda_->variant(id).source, "expect"))
        << name << result.evidence;
  }
}

}  // namespace
}  // namespace apo
