// tests/cuda/variables_test.cpp - a module's variables: named by its cubin, found by the driver, kept and put back, and
// constants among them because a kernel can store there.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <stdexcept>

#include "harness/core/error.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/worker/cuda/module.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using testing::cuda_worker;

constexpr const char* kVariables =
    "namespace {\nconstexpr int kUnchanging = 3;\n__device__ int hidden[3] = {1, 2, 3};\n}\n"
    "__device__ int seen = 5;\n__device__ float empty[100];\n__constant__ int given = 7;\n"
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  a.y[threadIdx.x] = a.x[threadIdx.x] + hidden[threadIdx.x % kUnchanging] + seen + empty[threadIdx.x] + given;\n"
    "  hidden[0] = seen = 9;\n  empty[5] = 1.0f;\n}\n";

// Through the generic address, which the compiler no longer knows to be that of a constant.
constexpr const char* kStoresToAConstant =
    "__constant__ int given = 7;\n"
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  const auto at = reinterpret_cast<unsigned long long>(&given) + (a.n < 0 ? 4 : 0);\n"
    "  if (threadIdx.x == 0) *reinterpret_cast<volatile int*>(at) = 8;\n}\n";

Build build_of(const char* code, const TemporaryFolder& folder, const std::optional<DeviceFacts>& device) {
  const std::string source = testing::copy_source({"launch k grid=1 block=32"}, code);
  const CudaBuilder builder(folder.path(), device, 60);
  return builder.build(*find_family("copy"), parse_variant(source, "a.cu"), {{"n", 32}}, {});
}

// What a module needs to be loaded and run in this process.
struct OpenGpu {
  std::optional<DeviceFacts> facts;  // none: no GPU here, and `missing` says why
  std::string missing;
  std::unique_ptr<const cuda::Driver> driver;
  cuda::Stream stream = nullptr;
};

OpenGpu open_gpu() {
  OpenGpu gpu;
  try {
    gpu.facts = Worker(cuda_worker()).device();
  } catch (const EnvironmentError& error) {
    gpu.missing = error.what();
    return gpu;
  }
  gpu.driver = cuda::load_driver(gpu.missing);
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  if (gpu.driver == nullptr || gpu.driver->device_get(&device, 0) != cuda::kSuccess ||
      gpu.driver->retain_context(&context, device) != cuda::kSuccess ||
      gpu.driver->set_context(context) != cuda::kSuccess ||
      gpu.driver->create_stream(&gpu.stream, cuda::kStreamNonBlocking) != cuda::kSuccess) {
    throw std::runtime_error("the GPU of the worker does not open here: " + gpu.missing);
  }
  return gpu;
}

int value_at(const cuda::Driver& driver, cuda::Pointer place) {
  int value = 0;
  EXPECT_EQ(driver.copy_to_host(&value, place, sizeof value), cuda::kSuccess);
  return value;
}

TEST(CudaVariables, AreNamedByTheCubinAndMakeItKeepState) {
  const TemporaryFolder folder;
  Build built;
  try {
    built =
        build_of(kVariables, folder, DeviceFacts{.name = "none", .major = 9, .sms = 132, .threads_per_block = 1024});
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  EXPECT_TRUE(built.plan.keeps_state);
  const std::vector<CudaVariable> variables = variables_in(read_file(built.object_path));
  for (const char* end : {"6hiddenE", "seen", "empty", "given"}) {
    const auto ends = [&](const CudaVariable& one) { return one.name.ends_with(end); };
    EXPECT_EQ(std::ranges::count_if(variables, ends), 1) << end;
  }
}

TEST(CudaVariables, ArePutBackAsTheyWereLoaded) {
  const TemporaryFolder folder;
  const OpenGpu gpu = open_gpu();
  if (!gpu.facts) {
    GTEST_SKIP() << gpu.missing;
  }
  const auto& driver = gpu.driver;
  const cuda::Stream stream = gpu.stream;
  const Build built = build_of(kVariables, folder, gpu.facts);
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  CudaModule module{.image = read_file(built.object_path), .plan = built.plan};
  ASSERT_FALSE(load_module(*driver, module, 0));
  std::array<cuda::Pointer, 2> places{};
  for (const CudaVariable& one : variables_in(module.image)) {
    cuda::Pointer at = 0;
    std::size_t bytes = 0;
    const auto found = driver->get_global(&at, &bytes, module.module, one.name.c_str());
    std::cout << "  " << one.name << ": " << (found == cuda::kSuccess ? "found" : cuda::describe(*driver, found))
              << ", " << bytes << " bytes at " << at << ", section " << one.section << " + " << one.offset << "\n";
    places[0] = one.name == "seen" ? at : places[0];
    places[1] = one.name == "given" ? at : places[1];
  }
  keep_variables(*driver, module);
  ASSERT_TRUE(module.restorable) << "every sample loads the module anew: " << module.variables.why_not();
  const std::array<int, 2> expected = {5, 7};
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_NE(places.at(i), 0U);
    ASSERT_EQ(driver->fill(places.at(i), 0xFF, sizeof(int), stream), cuda::kSuccess);
    ASSERT_FALSE(restore_module(*driver, module, 0, stream));
    ASSERT_EQ(driver->synchronize(stream), cuda::kSuccess);
    EXPECT_EQ(value_at(*driver, places.at(i)), expected.at(i));
  }
  unload_module(*driver, module);
}

TEST(CudaVariables, AKernelStoresToAConstantWhichIsPutBack) {
  const TemporaryFolder folder;
  const OpenGpu gpu = open_gpu();
  if (!gpu.facts) {
    GTEST_SKIP() << gpu.missing;
  }
  const Build built = build_of(kStoresToAConstant, folder, gpu.facts);
  ASSERT_EQ(built.outcome, Outcome::valid) << built.evidence << built.log;
  ASSERT_TRUE(built.plan.keeps_state);
  CudaModule module{.image = read_file(built.object_path), .plan = built.plan};
  ASSERT_FALSE(load_module(*gpu.driver, module, 0));
  cuda::Pointer given = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(gpu.driver->get_global(&given, &bytes, module.module, "given"), cuda::kSuccess);
  keep_variables(*gpu.driver, module);
  ASSERT_TRUE(module.restorable);
  std::vector<std::uint64_t> words = {0, 0, 32};  // x and y, which the kernel does not touch, and n
  ASSERT_EQ(launch_kernel(*gpu.driver, module.operations.at(0), words, 0, gpu.stream), cuda::kSuccess);
  ASSERT_EQ(gpu.driver->synchronize(gpu.stream), cuda::kSuccess);
  EXPECT_EQ(value_at(*gpu.driver, given), 8) << "constants are no state here";
  ASSERT_FALSE(restore_module(*gpu.driver, module, 0, gpu.stream));
  ASSERT_EQ(gpu.driver->synchronize(gpu.stream), cuda::kSuccess);
  EXPECT_EQ(value_at(*gpu.driver, given), 7);
  unload_module(*gpu.driver, module);
}

}  // namespace
}  // namespace apo
