// tests/examples/e88_lm/training_test.cpp - trainings of small models, in this process and as the program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "data/read_file.h"
#include "harness/core/system/process.h"
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

// ---------------------------------------------------------------- the program

apo::ProcessResult run_program(std::vector<std::string> flags, std::vector<std::string> environment = {}) {
  flags.insert(flags.begin(), {E88_LM_PROGRAM, "--device", "host", "--dim", "16", "--depth", "1", "--heads", "2",
                               "--state", "8", "--batch", "2", "--length", "16"});
  flags.push_back(std::string(E88_LM_REPOSITORY) + "/harness");
  apo::ProcessOptions options;
  options.timeout_s = 1000;
  options.environment = std::move(environment);
  return apo::run_process(flags, options);
}

std::vector<nlohmann::json> lines_of(const std::string& output) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

TEST(E88LmProgram, PrintsALineAStepAndTheEnvironmentWins) {
  const apo::ProcessResult result =
      run_program({"--steps", "50", "--seed", "1"}, {"APO_STEPS=5", "APO_WARMUP_STEPS=2", "APO_SEED=7"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const auto lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 5U);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("apo_step"), i + 1);
    EXPECT_GT(lines[i].at("seconds").get<double>(), 0);
    EXPECT_GT(lines[i].at("loss").get<double>(), 1);
  }
  const auto same = lines_of(run_program({"--steps", "5", "--seed", "7"}).output);
  ASSERT_EQ(same.size(), 5U);
  EXPECT_EQ(same[4].at("loss"), lines[4].at("loss"));
}

TEST(E88LmProgram, TheSpeedOfTheSummaryLeavesTheWarmUpOut) {
  const apo::ProcessResult result = run_program({"--steps", "5", "--warmup-steps", "2"});
  EXPECT_NE(result.error.find("after the warm-up 3 steps"), std::string::npos) << result.error;
}

TEST(E88LmProgram, ATimeInPlaceOfStepsBeginsNoStepAfterIt) {
  const apo::ProcessResult result = run_program({"--steps", "1"}, {"APO_SECONDS=0.3"});
  EXPECT_EQ(result.exit_code, 0);
  double seconds = 0, last = 0;
  for (const auto& line : lines_of(result.output)) {
    last = line.at("seconds").get<double>();
    seconds += last;
  }
  EXPECT_LT(seconds - last, 0.3);
  EXPECT_GT(result.seconds, 0.3);
}

TEST(E88LmProgram, ARateThatDivergesShowsItsNanAndEndsWithAnError) {
  const apo::ProcessResult result = run_program({"--rate", "1e37", "--rate-steps", "0", "--steps", "20"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.error.find("is not finite"), std::string::npos) << result.error;
  const std::string last = result.output.substr(result.output.rfind("{\"apo_step\""));
  EXPECT_TRUE(last.find("nan") != std::string::npos || last.find("inf") != std::string::npos) << last;
}

TEST(E88LmProgram, MistakesAreNamedWithTheirFix) {
  struct Mistake {
    std::vector<std::string> flags;
    std::string what;
  };
  for (const Mistake& mistake : std::vector<Mistake>{{{"--dimm", "8"}, "unknown flag '--dimm'"},
                                                     {{"--dim", "12"}, "multiple of 8"},
                                                     {{"--dim", "many"}, "needed a whole number"},
                                                     {{"--steps", "0"}, "at least 1"},
                                                     {{"--steps", "-3"}, "at least 1"},
                                                     {{"--rate", "nan"}, "at least 0"},
                                                     {{"--rate", "inf"}, "at least 0"},
                                                     {{"--seed", "99999999999999999999"}, "whole number"},
                                                     {{"--device", "tpu"}, "needed cuda or host"},
                                                     {{"--resume"}, "--checkpoint FILE"},
                                                     {{"--check"}, "--check needs --device cuda"},
                                                     {{"--prepare"}, "--prepare needs --device cuda"},
                                                     {{"--device", "cuda"}, "without CUDA"}}) {
    const apo::ProcessResult result = run_program(mistake.flags);
    EXPECT_EQ(result.exit_code, 1) << mistake.what;
    EXPECT_NE(result.error.find(mistake.what), std::string::npos) << result.error;
    EXPECT_EQ(result.output, "");
  }
  const apo::ProcessResult variable = run_program({}, {"APO_STEPS=soon"});
  EXPECT_EQ(variable.exit_code, 1);
  EXPECT_NE(variable.error.find("APO_STEPS is 'soon'"), std::string::npos) << variable.error;
}

}  // namespace
}  // namespace byte_lm
