// tests/examples/e88_lm/gradients_test.cpp - the gradient of the whole model against finite differences, in fp64.
#include <gtest/gtest.h>

#include "check/operations.h"
#include "tests/examples/e88_lm/small_model.h"

namespace byte_lm {
namespace {

TEST(E88LmModel, HasTheParametersOfItsDefinition) {
  EXPECT_EQ(Parameters(ModelSize{}).count(), 436697222);
}

TEST(E88LmModel, TheInputMatricesOfALayerAreOneMatrix) {
  const ModelSize size = {.dim = 24, .depth = 2, .heads = 5, .state = 8};
  for (const LayerParameters& layer : Parameters(size).layers) {
    EXPECT_EQ(layer.gate.offset, layer.qkv.offset + 3 * size.key_width() * size.dim);
    EXPECT_EQ(layer.alpha.offset, layer.gate.offset + size.key_width() * size.dim);
    EXPECT_EQ(layer.alpha.padded_rows, size.alpha_width());
  }
}

// A small model on real bytes, with the loss as a function of its masters.
class Differences {
 public:
  explicit Differences(bool fused) : model_(host_, kSize, kShape, fused) {
    const std::vector<double> masters = checked_masters(kSize);
    std::copy(masters.begin(), masters.end(), model_.masters());
    batch_ = training_batch(test::small_corpus().train, kShape, 5, 1);
    upload(host_, batch_, {.inverse_scored = 1.0 / static_cast<double>(batch_.scored)}, model_.inputs());
    loss();
    model_.backward();
  }

  std::vector<Parameter> parameters() const { return model_.parameters().all(); }
  Parameter alpha() const { return model_.parameters().layers[0].alpha; }
  double gradient(std::int64_t at) { return model_.gradients()[at]; }
  double central_difference(std::int64_t at) {
    constexpr double kStep = 1e-5;
    double& value = model_.masters()[at];
    const double before = value;
    value = before + kStep;
    const double above = loss();
    value = before - kStep;
    const double below = loss();
    value = before;
    return (above - below) / (2 * kStep);
  }

 private:
  static constexpr ModelSize kSize = {.dim = 16, .depth = 2, .heads = 3, .state = 8};
  static constexpr StepShape kShape = {.batch = 2, .length = 21};  // a whole segment of 16 steps and a part

  double loss() {
    host_.round_weights(model_.parameters().elements, model_.masters(), model_.weights());
    model_.forward();
    return *model_.loss_sum() / static_cast<double>(batch_.scored);
  }

  Host<double> host_;
  Model<Host<double>> model_;
  Batch batch_;
};

TEST(E88LmGradient, EqualsCentralDifferencesInEveryTensor) {
  for (const bool fused : {false, true}) {
    Differences model(fused);
    for (const Parameter& parameter : model.parameters()) {
      double largest = 0;
      for (std::int64_t i = 0; i < parameter.count(); i += std::max<std::int64_t>(1, parameter.count() / 17)) {
        const double gradient = model.gradient(parameter.offset + i);
        EXPECT_NEAR(gradient, model.central_difference(parameter.offset + i), 1e-9 + 1e-6 * std::abs(gradient))
            << parameter.name << " " << i;
        largest = std::max(largest, std::abs(gradient));
      }
      EXPECT_GT(largest, 1e-5) << parameter.name << " hardly matters here, so that a mistake would not show";
    }
  }
}

TEST(E88LmGradient, PaddingOfAlphaHasNone) {
  for (const bool fused : {false, true}) {
    Differences model(fused);
    const Parameter alpha = model.alpha();
    ASSERT_LT(alpha.count(), alpha.padded_rows * alpha.columns);
    for (std::int64_t i = alpha.count(); i < alpha.padded_rows * alpha.columns; ++i) {
      ASSERT_EQ(model.gradient(alpha.offset + i), 0);
    }
  }
}

TEST(E88LmGradient, OneProjectionGivesTheLossOfThree) {
  Host<double> host;
  const Batch batch = training_batch(test::small_corpus().train, kCheckedShape, 5, 1);
  const auto separate = step_results(host, kCheckedSize, kCheckedShape, false, batch);
  const auto fused = step_results(host, kCheckedSize, kCheckedShape, true, batch);
  for (const Comparison& comparison : compare(separate, separate, fused)) {
    EXPECT_LE(comparison.error, 1e-12 * comparison.scale) << comparison.name;
  }
}

}  // namespace
}  // namespace byte_lm
