// tests/profile/roofs/measure_gpu_roofs_test.cpp - the machine code of the roof kernels does the work that the table
// says: nothing was optimised away. Needs NVIDIA's compiler, no GPU.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "harness/core/error.h"
#include "harness/core/system/elf_object.h"
#include "harness/core/system/files.h"
#include "harness/implement/cubin_builder.h"
#include "harness/implement/variant/metadata.h"
#include "harness/implement/variant/settings.h"
#include "harness/profile/roofs/gpu_roofs.h"

namespace apo {
namespace {

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
