// tests/examples/e88_lm/training_test.cpp - trainings of small models.
#include <gtest/gtest.h>

#include "data/read_file.h"
#include "tests/examples/e88_lm/small_model.h"

namespace byte_lm {
namespace {

TEST(E88LmTraining, HeldOutLossFallsBelowByteFrequencies) {
  Settings settings = test::small_settings();
  settings.size = {.dim = 32, .depth = 1, .heads = 2, .state = 8};
  settings.shape = {.batch = 4, .length = 32};
  settings.steps = 60;
  settings.rate = 0.02;
  settings.rate_steps = 10;
  settings.evaluate = 5;
  Host<float> host;
  const Corpus corpus = test::small_corpus();
  double first = 0;
  const Summary summary = train(host, settings, corpus, Clock::now(),
                                [&](const StepResult& step) { first = step.step == 1 ? step.loss : first; });
  EXPECT_NEAR(first, std::log(256), 0.3) << "an untrained model knows nothing";
  EXPECT_LT(*summary.held_out_loss, summary.byte_frequency_loss - 0.1);
}

TEST(E88LmTraining, TwoRunsOfASeedGiveTheSameBits) {
  const Corpus corpus = test::small_corpus();
  Settings settings = test::small_settings();
  const auto losses = [&] {
    std::vector<double> all;
    for (const StepResult& step : test::run(settings, corpus)) {
      all.push_back(step.loss);
    }
    return all;
  };
  const std::vector<double> once = losses();
  EXPECT_EQ(losses(), once);
  settings.seed = 1;
  EXPECT_NE(losses(), once);
}

TEST(E88LmTraining, TheGradientIsClippedToItsNorm) {
  const AdamSettings settings;
  EXPECT_EQ(clip_factor(settings, 0.81), 1);
  EXPECT_DOUBLE_EQ(clip_factor(settings, 16), 0.25);
}

TEST(E88LmTraining, ANanEndsTheRunAndLeavesTheCheckpoint) {
  const test::Folder folder;
  const Corpus corpus = test::small_corpus();
  Settings settings = test::small_settings();
  settings.checkpoint = folder / "model.e88";
  test::run(settings, corpus);
  Host<float> host;
  Trainer trainer(host, settings, corpus);
  TrainingState state = read_checkpoint(settings.checkpoint, trainer.identity());
  const float nan = std::nanf("");
  std::memcpy(state.data.data() + 64, &nan, sizeof nan);
  trainer.restore(state);
  EXPECT_FALSE(trainer.train_step().is_finite());

  const std::string before = read_file(settings.checkpoint);
  settings.rate = 1e37;
  settings.rate_steps = 0;
  settings.steps = 20;
  settings.resume = true;
  EXPECT_THROW(test::run(settings, corpus), NotFinite);
  EXPECT_EQ(read_file(settings.checkpoint), before);
}

}  // namespace
}  // namespace byte_lm
