// tests/profile/roofs/roofs_test.cpp - the loops compute what they say, and the measured roofs are plausible.
#include "harness/profile/roofs/roofs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/profile/roofs/roof_kernels.h"

namespace apo {
namespace {

std::vector<const RoofKernels*> runnable_kernels() {
  std::vector<const RoofKernels*> kernels = {&kPortableRoofKernels};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    kernels.push_back(&kAvx2RoofKernels);
  }
  if (__builtin_cpu_supports("avx512f")) {
    kernels.push_back(&kAvx512RoofKernels);
  }
#endif
  return kernels;
}

TEST(RoofKernels, TanhHasARelativeErrorBelowTwoToTheMinus12) {
  constexpr std::size_t kCount = 1 << 16;
  alignas(64) static float x[kCount];
  alignas(64) static float y[kCount];
  for (std::size_t i = 0; i < kCount; ++i) {
    x[i] = (static_cast<float>(i) - 32767.5f) / 4096.0f;  // -8 .. 8, never 0
  }
  for (const RoofKernels* kernels : runnable_kernels()) {
    kernels->tanh_values(x, y, kCount);
    double worst = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      worst = std::max(worst, std::fabs(static_cast<double>(y[i]) / std::tanh(static_cast<double>(x[i])) - 1));
    }
    EXPECT_LT(worst, 0x1p-12) << kernels->isa;
    EXPECT_GT(worst, 0x1p-20) << kernels->isa << ": an exact tanh would be another roof";
  }
}

TEST(RoofKernels, TanhSumAddsTheValues) {
  alignas(64) static float x[128];
  alignas(64) static float y[128];
  for (std::size_t i = 0; i < 128; ++i) {
    x[i] = static_cast<float>(i) / 64.0f;
  }
  for (const RoofKernels* kernels : runnable_kernels()) {
    kernels->tanh_values(x, y, 128);
    EXPECT_NEAR(kernels->tanh_sum(x, 128), std::accumulate(y, y + 128, 0.0), 1e-3) << kernels->isa;
  }
}

// Every chain computes c <- c a + b; after n steps c_n = a^n c_0 + b (1 - a^n) / (1 - a).
TEST(RoofKernels, FmaChainsRunEveryStep) {
  for (const RoofKernels* kernels : runnable_kernels()) {
    const double power = std::pow(0.5, 5);
    double expected = 0;
    for (int chain = 0; chain < kernels->fma_per_step; ++chain) {
      expected += power * chain + 0.25 * (1 - power) / 0.5;
    }
    EXPECT_NEAR(kernels->scalar_fma(5, 0.5f, 0.25f), expected, 1e-4) << kernels->isa;
    EXPECT_NEAR(kernels->vector_fma(5, 0.5f, 0.25f), expected * kernels->lanes, 1e-3) << kernels->isa;
  }
}

TEST(RoofKernels, BothCopiesCopyEveryElementAndNoMore) {
  constexpr std::size_t kCount = 256;
  alignas(64) static float from[kCount];
  alignas(64) static float to[kCount + 16];
  std::iota(from, from + kCount, 1.0f);
  for (const RoofKernels* kernels : runnable_kernels()) {
    for (const auto copy : {kernels->copy, kernels->copy_streaming}) {
      std::fill_n(to, kCount + 16, -1.0f);
      copy(to, from, kCount);
      EXPECT_TRUE(std::equal(from, from + kCount, to)) << kernels->isa;
      EXPECT_EQ(std::count(to + kCount, to + kCount + 16, -1.0f), 16) << kernels->isa;
    }
  }
}

class MeasuredRoofs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { roofs_ = new std::vector<Roof>(measure_host_roofs(2, 0.4)); }
  static void TearDownTestSuite() { delete roofs_; }
  static const Roof& roof(const std::string& name) {
    const Roof* found = find_roof(*roofs_, name);
    EXPECT_NE(found, nullptr) << name;
    static const Roof absent;
    return found != nullptr ? *found : absent;
  }
  static const std::vector<Roof>* roofs_;
};
const std::vector<Roof>* MeasuredRoofs::roofs_ = nullptr;

TEST_F(MeasuredRoofs, ArePositiveWithIntervalsSamplesAndNotes) {
  for (const char* name : {"fp32_fma", "fp32_fma_1", "fp32_scalar_1", "special_tanh", "special_tanh_1", "libm_tanh",
                           "libm_tanh_1", "libm_exp", "libm_exp_1", "l2_copy", "l2_copy_1", "memory_copy",
                           "memory_copy_1", "thread_start", "page_fault", "call_overhead"}) {
    const Roof& one = roof(name);
    EXPECT_GT(one.lower, 0) << name;
    EXPECT_LE(one.lower, one.value) << name;
    EXPECT_GE(one.upper, one.value) << name;
    EXPECT_TRUE(std::isfinite(one.upper)) << name;
    EXPECT_GE(one.samples, 5) << name;
    EXPECT_FALSE(one.note.empty()) << name;
  }
}

// Rates that no core of this decade leaves: a loop that the optimiser had dropped would pass the upper ends.
TEST_F(MeasuredRoofs, AreBelowWhatOneCoreCanDo) {
  EXPECT_LT(roof("fp32_fma_1").value, 2e12);
  EXPECT_LT(roof("fp32_scalar_1").value, 1e11);
  EXPECT_LT(roof("libm_tanh_1").value, 5e9);
  EXPECT_LT(roof("l2_copy_1").value, 2e12);
  EXPECT_LT(roof("memory_copy_1").value, 1e12);
}

TEST(Roofs, UnknownRoofIsNull) {
  EXPECT_EQ(find_roof({}, "fp32_fma"), nullptr);
}

}  // namespace
}  // namespace apo
