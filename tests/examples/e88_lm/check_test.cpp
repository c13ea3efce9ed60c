// tests/examples/e88_lm/check_test.cpp - what the comparison with the host passes, and which planted mistakes it finds.
#include <gtest/gtest.h>

#include "check/operations.h"
#include "tests/examples/e88_lm/small_model.h"

namespace byte_lm {
namespace {

using Honest = Host<float, Bf16>;

// The gradient of the gate from the gated output, as in a cache that holds y after its gate.
struct GatedCache : Honest {
  void e88_backward(const Recurrence& extents, const BackwardTensors<float>& t) {
    Honest::e88_backward(extents, t);
    for (std::int64_t i = 0; i < extents.batch * extents.length * extents.heads * extents.state; ++i) {
      t.d_gate[i] *= silu(t.gate[i]);
    }
  }
};

// One head gets no gradient.
struct SkippedHead : Honest {
  void e88_backward(const Recurrence& extents, const BackwardTensors<float>& t) {
    Honest::e88_backward(extents, t);
    for (std::int64_t row = 0; row < extents.batch * extents.length; ++row) {
      std::fill_n(t.dv + row * extents.heads * extents.state, extents.state, 0.0f);
    }
  }
};

struct NoResult : Honest {
  void decay(std::int64_t rows, std::int64_t heads, View<const float>, const float*, const float*, float* decay) {
    std::fill_n(decay, rows * heads, std::nanf(""));
  }
};

std::vector<std::string> names_of_failures(const std::vector<Comparison>& comparisons) {
  std::vector<std::string> names;
  for (const Comparison& comparison : comparisons) {
    if (!comparison.holds()) {
      names.push_back(comparison.name);
    }
  }
  return names;
}

template <class Backend>
std::vector<std::string> failures_of_operations() {
  Host<double> exact;
  Honest honest;
  Backend backend;
  return names_of_failures(compare(Operations(exact).all(), Operations(honest).all(), Operations(backend).all()));
}

// As odd as kCheckedSize, and a tenth of the work.
constexpr ModelSize kSmallSize = {.dim = 40, .depth = 2, .heads = 3, .state = 16};
constexpr StepShape kSmallShape = {.batch = 3, .length = 37};

template <class Backend>
std::vector<std::string> failures_of_step() {
  Host<double> exact;
  Honest honest;
  Backend backend;
  const Batch batch = training_batch(test::small_corpus().train, kSmallShape, 5, 1);
  const auto step = [&](auto& one) { return step_results(one, kSmallSize, kSmallShape, false, batch); };
  return names_of_failures(compare(step(exact), step(honest), step(backend)));
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string> kNone;

TEST(E88LmCheck, HonestBf16AndFp32PassEveryOperation) {
  EXPECT_EQ(failures_of_operations<Honest>(), kNone);
  EXPECT_EQ(failures_of_operations<Host<float>>(), kNone);
}

TEST(E88LmCheck, Fp32PassesAWholeStepByTheBoundOfBf16) {
  EXPECT_EQ(failures_of_step<Host<float>>(), kNone);
}

TEST(E88LmCheck, FindsAGateGradientFromTheGatedCache) {
  EXPECT_TRUE(contains(failures_of_operations<GatedCache>(), "e88.d_gate"));
  EXPECT_TRUE(contains(failures_of_step<GatedCache>(), "layer1.gate"));
}

TEST(E88LmCheck, FindsASkippedHead) {
  EXPECT_TRUE(contains(failures_of_step<SkippedHead>(), "layer0.qkv"));
}

TEST(E88LmCheck, NanNeverPasses) {
  EXPECT_TRUE(contains(failures_of_operations<NoResult>(), "decay.decay"));
  EXPECT_TRUE(contains(failures_of_step<NoResult>(), "loss"));
}

}  // namespace
}  // namespace byte_lm
