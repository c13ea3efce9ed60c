// tests/cuda/program_call_test.cpp - a launch of a program on a real GPU, recorded and launched without the program.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "harness/applications/recorded_family.h"
#include "harness/applications/run_application.h"
#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/recording/step.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/runtime/runtime.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/text.h"

namespace apo {
namespace {

// y += 2x on 1000 floats, three times, and a copy to the host behind the last one.
constexpr const char* kProgram = R"(
#include <cstdio>
__global__ void axpy(const float* x, float* y, int n, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
int main() {
  float host[1000];
  for (int i = 0; i < 1000; ++i) host[i] = i;
  float *x, *y;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(y, 0, sizeof host);
  for (int step = 0; step < 3; ++step) axpy<<<4, 256>>>(x, y, 1000, 2.0f);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  return host[10] == 60 ? 0 : 1;
}
)";

class ProgramCalls : public testing::CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (cuda_ == nullptr || find_toolkit_program("nvcc").empty()) {
      GTEST_SKIP() << "no GPU or no nvcc here";
    }
    write_file_atomically(folder_.path() / "program.cu", kProgram);
    const ProcessResult built = run_process(
        {find_toolkit_program("nvcc"), "-o", program(), (folder_.path() / "program.cu").string()}, {.timeout_s = 200});
    ASSERT_TRUE(built.ok()) << built.error;
  }
  std::string program() const { return (folder_.path() / "program").string(); }
  std::string refusal(const std::string& wanted) const {
    try {
      record_call({program()}, wanted, false);
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramCalls, AreRecordedAndLaunchedOnTheirTensors) {
  const RecordedFamily family = recorded_family(record_call({program()}, "kernel 3 axpy", false),
                                                {.name = "axpy", .declaration = "", .elements = {}});
  ASSERT_EQ(family.tensors.size(), 2U);
  ASSERT_EQ(family.tensors[1].elements, 1000);
  float before = 0;
  std::memcpy(&before, family.tensors[1].bytes.data() + 40, sizeof before);
  EXPECT_EQ(before, 40) << "two calls came before the third";

  const std::filesystem::path file = folder_.path() / "call";
  const std::string text = encode(family.call);
  write_file_atomically(file, text);
  const auto call = decode_recorded_call(text);
  ASSERT_TRUE(call);
  std::vector<BufferSpec> buffers;
  for (const RecordedTensor& tensor : family.tensors) {
    buffers.push_back({.name = tensor.name,
                       .bytes = std::ssize(tensor.bytes),
                       .role = tensor.is_written ? BufferRole::output : BufferRole::input,
                       .element_bytes = 4});
  }
  SharedTensors tensors({.buffers = buffers, .words = {}, .input_sets = 1, .alignment = 256});
  Worker worker(testing::cuda_worker());
  const Build build{.object_path = file.string(), .object_hash = sha256(text), .plan = plan_of(*call)};
  ASSERT_TRUE(load_build(worker, 0, build));
  ASSERT_TRUE(worker.attach(tensors));
  const auto sample = worker.call(0);
  ASSERT_TRUE(sample) << sample.failure().evidence;
}

// Twice as much is added by the arm: a factor of 4 in place of 2.
TEST_F(ProgramCalls, OfARangeRunWithAnotherCallInPlaceOfAKernel) {
  const ProgramCall launch = record_call({program()}, "kernel 3 axpy", false);
  const RecordedFamily family = recorded_family(launch, {.name = "axpy", .declaration = "", .elements = {}});
  const std::vector<std::int64_t> bytes = {std::ssize(family.tensors[0].bytes), std::ssize(family.tensors[1].bytes)};
  RecordedCall twice = family.call;
  twice.operations.push_back(twice.operations.front());
  const StepWith with = step_with(launch.call, *family.call.operations.front().kernel, "axpy", bytes, twice);
  EXPECT_EQ(with.replaced, 1);
  const std::filesystem::path file = folder_.path() / "step";
  const std::string text = encode(on_tensors(with.call, family.tensors));
  write_file_atomically(file, text);
  std::vector<BufferSpec> buffers;
  for (const RecordedTensor& tensor : family.tensors) {
    buffers.push_back({.name = tensor.name,
                       .bytes = std::ssize(tensor.bytes),
                       .role = tensor.is_written ? BufferRole::output : BufferRole::input,
                       .element_bytes = 4});
  }
  SharedTensors tensors({.buffers = buffers, .words = {}, .input_sets = 1, .alignment = 256});
  Worker worker(testing::cuda_worker());
  ASSERT_TRUE(load_build(
      worker, 0,
      {.object_path = file.string(), .object_hash = sha256(text), .plan = plan_of(*decode_recorded_call(text))}));
  ASSERT_TRUE(worker.attach(tensors));
  const auto sample = worker.call(0);
  ASSERT_TRUE(sample) << sample.failure().evidence;
}

TEST_F(ProgramCalls, ThatNeverComeAreNamed) {
  expect_contains(refusal("kernel 4 axpy"), "the program launched 'axpy' 3 times, not 4");
  expect_contains(refusal("range step"), "the program entered no NVTX range 'step'");
}

}  // namespace
}  // namespace apo
