// tests/profile/roofs/gpu_roofs_test.cpp - from times to a GPU's roofs, and from those to the floor of a call.
#include "harness/profile/roofs/gpu_roofs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/system/files.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/profile/host/host_profile.h"
#include "harness/profile/roofs/roofs.h"
#include "tests/shipped_families.h"

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

// An instruction is 16 bytes; its low 12 bits say which it is, as nvdisasm shows for sm_70 to sm_90.
struct Instruction {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  unsigned code() const { return low & 0xfff; }
};

using Is = std::function<bool(const Instruction&)>;

Is with_code(unsigned code) {
  return [=](const Instruction& one) { return one.code() == code; };
}
// The function of the special-function unit stands in bits 74 to 77.
Is special(unsigned function) {
  return [=](const Instruction& one) { return one.code() == 0x308 && ((one.high >> 10) & 0xf) == function; };
}
// The width of an access stands in bits 73 to 75: 4 is 32 bits, 6 is 128 bits.
Is access(unsigned code, unsigned width) {
  return [=](const Instruction& one) { return one.code() == code && ((one.high >> 9) & 7) == width; };
}

const Is kFfma = with_code(0x223);
const Is kShfl = with_code(0xf89);
const Is kBar = with_code(0xb1d);
const Is kHgmma = with_code(0xdf0);
const Is kTanh = special(9);
const Is kEx2 = special(2);

DeviceFacts h100_facts() {
  return {.name = "none",
          .major = 9,
          .sms = 132,
          .threads_per_block = 1024,
          .shared_per_block = 232'448,
          .l2_bytes = 60 << 20};
}

class RoofCode : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      builder_ = std::make_unique<CudaBuilder>(folder_.path() / "cache", h100_facts(), 60);
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    build_ = builder_->build(*find_family("spin"), variant_, {{"n", 1 << 21}, {"steps", 1}}, {});
    ASSERT_EQ(build_.outcome, Outcome::valid) << build_.evidence << build_.log;
    cubin_ = read_file(build_.object_path);
  }

  int count(const std::string& kernel, const Is& is) const {
    const ElfObject object(cubin_, ET_EXEC);
    int found = 0;
    for (const Elf64_Shdr& header : object.sections()) {
      const std::string_view code = object.contents(header);
      for (std::size_t at = 0; object.name(header) == ".text." + kernel && at + 16 <= code.size(); at += 16) {
        Instruction one;
        std::memcpy(&one.low, code.data() + at, 8);
        std::memcpy(&one.high, code.data() + at + 8, 8);
        found += is(one) ? 1 : 0;
      }
    }
    return found;
  }

  TemporaryFolder folder_;
  Variant variant_ = parse_variant(cuda_roof_source(h100_facts()), "harness/profile/roofs/roofs.cu");
  std::unique_ptr<CudaBuilder> builder_;
  Build build_;
  std::string cubin_;
};

TEST_F(RoofCode, EveryKernelOfTheTableIsLaunchedAndItsStepsAreATunable) {
  const Settings settings = default_settings(variant_);
  for (const CudaRoofKernel& kernel : cuda_roof_kernels()) {
    const auto& launches = build_.plan.launches;
    EXPECT_TRUE(std::any_of(launches.begin(), launches.end(), [&](const KernelLaunch& launch) {
      return launch.kernel == kernel.kernel;
    })) << kernel.kernel;
    EXPECT_TRUE(kernel.steps.empty() || settings.contains(kernel.steps)) << kernel.steps;
  }
  EXPECT_EQ(build_.resources.at("spill_bytes"), 0);
}

// One instruction of a warp is `each` of the roof's unit for a lane; together they are the work of a step.
TEST_F(RoofCode, AStepDoesTheWorkOfTheTable) {
  struct Expected {
    const char* roof;
    Is instruction;
    double each;
  };
  const std::vector<Expected> all = {{"fp32_fma", kFfma, 2},
                                     {"special_tanh", kTanh, 1},
                                     {"special_ex2", kEx2, 1},
                                     {"libm_tanh", kEx2, 1},
                                     {"shuffle", kShfl, 1},
                                     {"shared_bandwidth", access(0x984, 6), 16},
                                     {"tensor_bf16", kHgmma, 2.0 * 64 * 128 * 16 / 128},
                                     {"barrier", kBar, 1},
                                     {"fma_latency", kFfma, 1},
                                     {"special_latency", kTanh, 1},
                                     {"shuffle_latency", kShfl, 1},
                                     {"shared_latency", access(0x984, 4), 1},
                                     {"l2_copy", access(0x981, 6), 2 * 16},
                                     {"memory_copy", access(0x986, 6), 2 * 16}};
  const auto& kernels = cuda_roof_kernels();
  EXPECT_EQ(all.size() + 1, kernels.size()) << "launch_latency does nothing";
  for (const Expected& one : all) {
    const auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const auto& k) { return k.roof == one.roof; });
    ASSERT_NE(kernel, kernels.end()) << one.roof;
    EXPECT_EQ(count(kernel->kernel, one.instruction) * one.each, kernel->work) << one.roof;
  }
}

TEST_F(RoofCode, EveryKernelStoresWhatItComputed) {
  for (const KernelLaunch& launch : build_.plan.launches) {
    const bool empty = launch.kernel == "launch_latency";
    EXPECT_EQ(count(launch.kernel, with_code(0x986)) > 0, !empty) << launch.kernel;
  }
}

}  // namespace

}  // namespace apo
