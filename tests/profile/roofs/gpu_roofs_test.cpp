// tests/profile/roofs/gpu_roofs_test.cpp - from times to a GPU's roofs, and from those to the floor of a call.
#include "harness/profile/roofs/gpu_roofs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/profile/host/host_profile.h"
#include "harness/profile/roofs/roofs.h"

namespace apo {
namespace {

const CudaRoofKernel& kernel(const std::string& roof) {
  const auto& all = cuda_roof_kernels();
  return *std::find_if(all.begin(), all.end(), [&](const CudaRoofKernel& one) { return one.roof == roof; });
}

TEST(CudaRoofs, ARateIsTheWorkOfAllThreadsPerTime) {
  const Roof roof = cuda_roof(kernel("fp32_fma"), 1000, 10, {1000, 1000, 1000});  // 512 flop x 10 x 1000 in 1 us
  EXPECT_DOUBLE_EQ(roof.value, 5.12e12);
  EXPECT_EQ(roof.unit, "flop/s");
  EXPECT_EQ(roof.samples, 3);
  EXPECT_FALSE(roof.note.empty());
}

TEST(CudaRoofs, ALatencyIsTheTimeOfOneOperationWhateverTheThreads) {
  const Roof roof = cuda_roof(kernel("shuffle_latency"), 4224, 100, {32000, 32000, 64000});  // 3200 in a row
  EXPECT_DOUBLE_EQ(roof.value, 10e-9);
  EXPECT_EQ(roof.unit, "s");
  EXPECT_GE(roof.upper, roof.value);
}

TEST(CudaRoofs, ALaunchIsOneOfThoseInASample) {
  EXPECT_DOUBLE_EQ(cuda_roof(kernel("launch_latency"), 32, 1, {300'000}).value, 2e-6);
}

TEST(CudaRoofs, ARateLeansToTheFastSamplesAndACostToTheMiddle) {
  std::vector<std::int64_t> ns(20, 2000);
  std::fill_n(ns.begin(), 5, 1000);
  EXPECT_DOUBLE_EQ(cuda_roof(kernel("fp32_fma"), 1, 1, ns).value, 512e6);
  EXPECT_DOUBLE_EQ(cuda_roof(kernel("barrier"), 1, 1, ns).value, 2000e-9 / 32);
}

TEST(CudaRoofs, ACopyOfTheDriverIsReadAndWritten) {
  EXPECT_DOUBLE_EQ(driver_copy_roof(1 << 20, {1000}).value, 2e9 * (1 << 20) / 1000);
}

TEST(CudaRoofs, ATimeOfZeroGivesNoInfiniteRate) {
  EXPECT_TRUE(std::isfinite(cuda_roof(kernel("fp32_fma"), 1, 1, {0}).value));
  EXPECT_EQ(cuda_roof(kernel("fp32_fma"), 1, 1, {}).samples, 0);
}

TEST(CudaRoofs, NamesAreDistinctAndAnyThatLacksMakesTheSetIncomplete) {
  std::vector<Roof> roofs;
  std::set<std::string> names;
  for (const CudaRoofKernel& one : cuda_roof_kernels()) {
    EXPECT_TRUE(names.insert(one.roof).second) << one.roof;
    EXPECT_FALSE(has_all_cuda_roofs(roofs)) << "without " << one.roof;
    roofs.push_back({.name = one.roof, .note = one.note});
  }
  EXPECT_TRUE(has_all_cuda_roofs(roofs));
}

TEST(CudaRoofs, AreIncompleteWhereOneWasMeasuredInAnotherWay) {
  std::vector<Roof> roofs;
  for (const CudaRoofKernel& one : cuda_roof_kernels()) {
    roofs.push_back({.name = one.roof, .note = one.note});
  }
  const auto named = [&](const std::string& name) -> Roof& {
    return *std::find_if(roofs.begin(), roofs.end(), [&](const Roof& roof) { return roof.name == name; });
  };
  named("memory_copy").note = "copied by the driver";
  EXPECT_TRUE(has_all_cuda_roofs(roofs));
  named("tensor_bf16").note = "mma.sync m16n8k16 bf16 with fp32 sums";
  EXPECT_FALSE(has_all_cuda_roofs(roofs));
}

// 4 SMS x 256 threads walk the tensor in vectors of four floats; each place may be at most one round ahead.
TEST(CudaRoofs, TensorsHoldAVectorForEveryThread) {
  for (const int sms : {1, 40, 132, 1000}) {
    for (const Footprint footprint : {Footprint::cache, Footprint::memory}) {
      for (const std::int64_t l2 : {std::int64_t{0}, std::int64_t{60} << 20}) {
        const std::int64_t floats = roof_tensor_floats(footprint, l2, sms);
        EXPECT_GE(floats / 4, 1024 * sms);
        EXPECT_EQ(floats % 4, 0);
        EXPECT_LT(floats, std::int64_t{1} << 31);
      }
    }
  }
  EXPECT_EQ(roof_tensor_floats(Footprint::cache, 60 << 20, 132), (60 << 20) / 32);
  EXPECT_EQ(roof_tensor_floats(Footprint::memory, 60 << 20, 132), 64 << 20);
}

// ---------------------------------------------------------------- floors

Roof roof(const char* name, double value) {
  return {.name = name, .value = value, .lower = value, .upper = value, .samples = 20};
}

// Round numbers near an H200's: 1 ns is 2 cycles.
ProfileInputs call_of(const Work& work, double time_ns) {
  return {.target = Target::cuda,
          .workload = "w",
          .work = work,
          .times = {{.threads = 1, .ns = {time_ns}}},
          .roofs = {roof("fp32_fma", 6e13), roof("tensor_bf16", 6e14), roof("special_tanh", 4e12),
                    roof("memory_copy", 4e12), roof("fma_latency", 2e-9), roof("special_latency", 20e-9)}};
}

TEST(CudaFloor, IsTheLargestPartAndTellsHowBusyEachUnitMustBe) {
  const Profile profile = assemble_profile(call_of({.flops = 6e9, .bytes = 4e8, .special_functions = 8e8}, 1e6));
  EXPECT_DOUBLE_EQ(profile.metric("floor_flops"), 1e5);
  EXPECT_DOUBLE_EQ(profile.floor_ns, 2e5);
  EXPECT_EQ(profile.floor_roof, "special functions") << "whichever they are: the work does not say";
  EXPECT_DOUBLE_EQ(profile.floor_fraction, 0.2);
  EXPECT_DOUBLE_EQ(profile.metric("busy_special"), 0.2);
  EXPECT_DOUBLE_EQ(profile.metric("busy_bytes"), 0.1);
  EXPECT_TRUE(std::isnan(profile.metric("floor_serial"))) << "no chain was counted";
}

// 1000 steps of 5 x 2 ns + 20 ns.
TEST(CudaFloor, ALongChainBindsASmallCall) {
  const Profile profile = assemble_profile(
      call_of({.flops = 6e6, .serial_steps = 1000, .serial_flops = 5000, .serial_special_functions = 1000}, 1e5));
  EXPECT_DOUBLE_EQ(profile.floor_ns, 3e4);
  EXPECT_EQ(profile.floor_roof, "serial chain");
}

TEST(CudaFloor, ACallFasterThanTheVectorsIsHeldToTheTensorCores) {
  EXPECT_DOUBLE_EQ(assemble_profile(call_of({.flops = 6e10}, 2e6)).floor_ns, 1e6);
  const Profile faster = assemble_profile(call_of({.flops = 6e10}, 4e5));
  EXPECT_DOUBLE_EQ(faster.floor_ns, 1e5);
  EXPECT_EQ(faster.floor_roof, "tensor_bf16");
}

TEST(CudaFloor, HasNoThreadsOfTheHost) {
  const Profile profile = assemble_profile(call_of({.flops = 6e9}, 1e6));
  EXPECT_TRUE(std::isnan(profile.metric("threads")));
  EXPECT_TRUE(std::isnan(profile.metric("time_t1")));
}

TEST(CudaFloor, ThePhysicalOneAllowsForFasterMatrixInstructions) {
  EXPECT_DOUBLE_EQ(physical_floor_ns({.flops = 1.2e12}, call_of({}, 1).roofs), 0.8 * 1e6);
}

// Rates that were measured on an H200: 16.0 and 121.8 lanes a cycle and SM at 1.98 GHz, 4.25 TB/s.
TEST(CudaFloor, OfTheE88FamiliesIsThatOfTheSpecialFunctionsForwardAndOfArithmeticBackward) {
  const std::vector<Roof> roofs = {roof("fp32_fma", 6.37e13), roof("special_tanh", 4.17e12),
                                   roof("memory_copy", 4.25e12), roof("fma_latency", 2e-9),
                                   roof("special_latency", 2e-8)};
  const auto floor = [&](const char* name) {
    const Family& family = *find_family(name);
    ProfileInputs inputs = call_of(family.work(find_workload(family, "b16_t512_h83_n32")->axes), 4e6);
    inputs.roofs = roofs;
    return assemble_profile(inputs);
  };
  EXPECT_EQ(floor("e88_forward").floor_roof, "special functions");
  EXPECT_NEAR(floor("e88_forward").floor_ns, 178e3, 1e3);
  EXPECT_EQ(floor("e88_backward").floor_roof, "fp32_fma");
  EXPECT_NEAR(floor("e88_backward").floor_ns, 260e3, 2e3);
}

}  // namespace
}  // namespace apo
