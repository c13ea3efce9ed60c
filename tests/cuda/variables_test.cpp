// tests/cuda/variables_test.cpp - a module's variables: named by its cubin, found by the driver, kept and put back.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>

#include "harness/core/error.h"
#include "harness/implement/cuda_build.h"
#include "harness/implement/metadata.h"
#include "harness/worker/cuda_module.h"
#include "tests/cuda/cuda_lab.h"

namespace apo {
namespace {

using testing::cuda_worker;

constexpr const char* kVariables =
    "// apo:variant copy/with_variables\n// apo:target cuda sm_80\n// apo:technique t\n// apo:idea i\n"
    "// apo:launch k grid=1 block=32\n#include \"copy.args.h\"\n"
    "namespace {\nconstexpr int kUnchanging = 3;\n__device__ int hidden[3] = {1, 2, 3};\n}\n"
    "__device__ int seen = 5;\n__device__ float empty[100];\n__constant__ int given = 7;\n"
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  a.y[threadIdx.x] = a.x[threadIdx.x] + hidden[threadIdx.x % kUnchanging] + seen + empty[threadIdx.x] + given;\n"
    "  hidden[0] = seen = 9;\n  empty[5] = 1.0f;\n}\n";

Build build_of_variables(const TemporaryFolder& folder, const std::optional<DeviceFacts>& device) {
  const CudaBuilder builder(folder.path(), device, 60);
  return builder.build(*find_family("copy"), parse_variant(kVariables, "a.cu"), {{"n", 32}}, {});
}

TEST(CudaVariables, AreNamedByTheCubinAndMakeItKeepState) {
  const TemporaryFolder folder;
  Build built;
  try {
    built = build_of_variables(folder, DeviceFacts{.name = "none", .major = 9, .sms = 132, .threads_per_block = 1024});
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
  std::optional<DeviceFacts> facts;
  try {
    facts = Worker(cuda_worker()).device();
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  std::string missing;
  const auto driver = cuda::load_driver(missing);
  ASSERT_NE(driver, nullptr) << missing;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  ASSERT_EQ(driver->device_get(&device, 0), cuda::kSuccess);
  ASSERT_EQ(driver->retain_context(&context, device), cuda::kSuccess);
  ASSERT_EQ(driver->set_context(context), cuda::kSuccess);
  ASSERT_EQ(driver->create_stream(&stream, cuda::kStreamNonBlocking), cuda::kSuccess);
  const Build built = build_of_variables(folder, facts);
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
  keep_variables(*driver, module, stream);
  ASSERT_TRUE(module.restorable) << "every sample loads the module anew: " << module.variables.why_not();
  const std::array<int, 2> expected = {5, 7};
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_NE(places.at(i), 0U);
    ASSERT_EQ(driver->fill(places.at(i), 0xFF, sizeof(int), stream), cuda::kSuccess);
    ASSERT_FALSE(restore_module(*driver, module, 0, stream));
    ASSERT_EQ(driver->synchronize(stream), cuda::kSuccess);
    int now = 0;
    ASSERT_EQ(driver->copy_to_host(&now, places.at(i), sizeof now), cuda::kSuccess);
    EXPECT_EQ(now, expected.at(i));
  }
  unload_module(*driver, module);
}

}  // namespace
}  // namespace apo
