// tests/examples/e88_lm/check_test.cpp - what the comparison with the host passes, and which planted mistakes it finds.
#include <gtest/gtest.h>

#include "check/operations.h"
#include "tests/examples/e88_lm/small_model.h"

namespace e88_lm {
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

// One head of five gets no gradient.
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
std::vector<std::string> failures() {
  Host<double> exact;
  Honest honest;
  Backend backend;
  const Batch batch = training_batch(test::small_corpus().train, kCheckedShape, 5, 1);
  const auto step = [&](auto& one) { return step_results(one, kCheckedSize, kCheckedShape, false, batch); };
  std::vector<std::string> names =
      names_of_failures(compare(Operations(exact).all(), Operations(honest).all(), Operations(backend).all()));
  for (const std::string& name : names_of_failures(compare(step(exact), step(honest), step(backend)))) {
    names.push_back(name);
  }
  return names;
}

TEST(E88LmCheck, HonestBf16Passes) {
  EXPECT_EQ(failures<Honest>(), std::vector<std::string>());
}

TEST(E88LmCheck, Fp32PassesTheBoundOfBf16) {
  EXPECT_EQ(failures<Host<float>>(), std::vector<std::string>());
}

TEST(E88LmCheck, FindsAGateGradientFromTheGatedCache) {
  const auto names = failures<GatedCache>();
  EXPECT_NE(std::find(names.begin(), names.end(), "e88.d_gate"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "layer1.gate"), names.end());
}

TEST(E88LmCheck, FindsASkippedHead) {
  const auto names = failures<SkippedHead>();
  EXPECT_NE(std::find(names.begin(), names.end(), "layer0.qkv"), names.end());
}

TEST(E88LmCheck, NanNeverPasses) {
  const auto names = failures<NoResult>();
  EXPECT_NE(std::find(names.begin(), names.end(), "decay.decay"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "loss"), names.end());
}

}  // namespace
}  // namespace e88_lm
