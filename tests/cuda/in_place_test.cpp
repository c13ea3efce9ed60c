// tests/cuda/in_place_test.cpp - tensors that a launch reads and writes, on a real GPU: every launch begins with their
// contents, in single calls, samples of many, recorded and profiled ones. And tensors that the GPU repeats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "harness/worker/cupti/metric_names.h"
#include "tests/cuda/cuda_runtime_fixture.h"
#include "tests/text.h"

namespace apo {
namespace {

constexpr std::int64_t kFloats = 5000;
constexpr int kUpdatedSets = 3;
constexpr const char* kAdds =
    "extern \"C\" __global__ void k(copy_args a) {\n"
    "  const long long i = blockIdx.x * 256LL + threadIdx.x;\n  if (i < a.n) a.y[i] += a.x[i];\n}\n";

// y is what a call updates: an input and an output of one number.
SharedTensorsSpec added_tensors() {
  SharedTensorsSpec spec = testing::copy_tensors(kFloats, kUpdatedSets);
  spec.buffers.back().in_place = 1;
  spec.buffers.push_back(spec.buffers.back());
  spec.buffers.back().role = BufferRole::input;
  return spec;
}

struct InPlaceOnGpu : ::testing::Test {
  void SetUp() override {
    try {
      gpu = std::make_unique<testing::CopyOnGpu>(added_tensors());
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    for (int set = 0; set < kUpdatedSets; ++set) {
      write(set, static_cast<float>(set));
    }
    const auto loaded = gpu->load(gpu->build({"launch k grid=ceil_div(n,256) block=256"}, kAdds), 2);
    ASSERT_TRUE(loaded) << loaded.failure().evidence;
  }
  void write(int set, float first) {
    std::vector<float> x(kFloats), y(kFloats);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = first + static_cast<float>(i % 97);
      y[i] = 1000 * (first + 1);
    }
    testing::write_input(gpu->tensors(), set, "x", std::as_bytes(std::span(x)));
    testing::write_input(gpu->tensors(), set, "y", std::as_bytes(std::span(y)));
    sums.resize(kUpdatedSets);
    sums.at(static_cast<std::size_t>(set)).clear();
    std::ranges::transform(x, y, std::back_inserter(sums.at(static_cast<std::size_t>(set))), std::plus<>());
  }
  bool holds_sum(int set) const {
    return std::memcmp(gpu->tensors().read_output("y").data(), sums.at(static_cast<std::size_t>(set)).data(),
                       4 * kFloats) == 0;
  }

  std::unique_ptr<testing::CopyOnGpu> gpu;
  std::vector<std::vector<float>> sums;
};

TEST_F(InPlaceOnGpu, EveryCallBeginsWithTheContentsOfItsSet) {
  for (const int set : {0, 1, 1, 2, 0}) {
    gpu->tensors().poison_outputs(set);
    const auto sample = gpu->worker().call(0, set);
    ASSERT_TRUE(sample) << sample.failure().evidence;
    EXPECT_TRUE(holds_sum(set)) << set;
  }
  EXPECT_FALSE(gpu->tensors().check_guards());
  EXPECT_FALSE(gpu->tensors().check_inputs());
}

TEST_F(InPlaceOnGpu, ASampleOfManyCallsUpdatesEachCopyOnce) {
  for (const CachePolicy cache : {CachePolicy::warm, CachePolicy::cold}) {
    for (const int repetitions : {1, 2, 7, kMostImages}) {
      for (int set = 0; set < kUpdatedSets; ++set) {
        const auto samples = gpu->worker().run({.order = {0, 1, 0, 1},
                                                .sets = {set, 0, 1, set},
                                                .repetitions = repetitions,
                                                .cache = cache,
                                                .read_back = true});
        ASSERT_TRUE(samples) << samples.failure().evidence;
        EXPECT_TRUE(holds_sum(set)) << set << " after " << repetitions;
      }
    }
  }
  EXPECT_FALSE(gpu->tensors().check_inputs());
}

TEST_F(InPlaceOnGpu, NewContentsReachTheNextCallInEveryCopy) {
  const auto before = gpu->worker().run({.order = {0}, .sets = {0}, .repetitions = 5});
  ASSERT_TRUE(before) << before.failure().evidence;
  write(1, 40);
  const auto after =
      gpu->worker().run({.order = {0, 0}, .sets = {0, 1}, .repetitions = 5, .read_back = true, .refresh_set = 1});
  ASSERT_TRUE(after) << after.failure().evidence;
  EXPECT_TRUE(holds_sum(1));
}

// A profiler repeats the call; what the last one left is read back.
TEST_F(InPlaceOnGpu, ProfiledCallsBeginWithTheirContentsToo) {
  for (const CachePolicy cache : {CachePolicy::warm, CachePolicy::cold}) {
    const auto counted = gpu->worker().count({.metrics = default_counters(), .cache = cache, .read_back = true});
    ASSERT_TRUE(counted) << counted.failure().evidence;
    if (!counted->missing.empty()) {
      GTEST_SKIP() << counted->missing;
    }
    EXPECT_TRUE(holds_sum(0));
  }
}

// The inputs are two parts of three blocks, which a call sees as two parts of 1000; the outputs have to repeat too.
TEST(RepeatsOnGpu, AreMadeAndAnyOutputThatDoesNotRepeatIsFound) {
  constexpr std::int64_t kShared = 2 * 3 * 5;
  constexpr std::int64_t kWhole = 2 * 1000 * 5;
  SharedTensorsSpec spec = testing::copy_tensors(kShared);
  for (BufferSpec& buffer : spec.buffers) {
    buffer.repeats = {.outer = 2, .period = 3, .count = 1000};
  }
  spec.words = {kWhole};
  std::vector<float> x(kShared);
  std::iota(x.begin(), x.end(), 1.0F);
  for (const int wrong : {-1, 15, 4999, 5000 + 15, 9999}) {  // -1: none
    std::unique_ptr<testing::CopyOnGpu> gpu;
    try {
      gpu = std::make_unique<testing::CopyOnGpu>(spec);
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    testing::write_input(gpu->tensors(), 0, "x", std::as_bytes(std::span(x)));
    const auto loaded = gpu->load(gpu->build(
        {"launch k grid=ceil_div(n,256) block=256"},
        "extern \"C\" __global__ void k(copy_args a) {\n  const long long i = blockIdx.x * 256LL + threadIdx.x;\n"
        "  if (i < a.n) a.y[i] = a.x[i] + (i == " +
            std::to_string(wrong) + ");\n}\n"));
    ASSERT_TRUE(loaded) << loaded.failure().evidence;
    const auto sample = gpu->worker().call(0);
    ASSERT_EQ(static_cast<bool>(sample), wrong < 0) << wrong;
    if (!sample) {
      expect_contains(sample.failure().evidence, "outputs do not repeat where the inputs do");
      continue;
    }
    EXPECT_EQ(std::memcmp(gpu->tensors().read_output("y").data(), x.data(), 4 * kShared), 0);
    EXPECT_FALSE(gpu->tensors().check_guards() || gpu->tensors().check_inputs());
  }
}

}  // namespace
}  // namespace apo
