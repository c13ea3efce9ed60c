// tests/examples/e88_lm/checkpoint_test.cpp - checkpoints are whole or absent, and a resumed training is the same one.
#include <gtest/gtest.h>

#include <fstream>

#include "data/read_file.h"
#include "tests/examples/e88_lm/small_model.h"

namespace byte_lm {
namespace {

std::string what_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

class E88LmCheckpoint : public testing::Test {
 protected:
  TrainingState trained(std::int64_t steps) {
    Trainer trainer(host_, settings_, corpus_);
    for (std::int64_t i = 0; i < steps; ++i) {
      trainer.train_step();
    }
    return trainer.state();
  }

  const test::Folder folder_;
  const std::filesystem::path file_ = folder_ / "model.e88";
  Settings settings_ = test::small_settings();
  Corpus corpus_ = test::small_corpus();
  Host<float> host_;
};

TEST_F(E88LmCheckpoint, AResumedTrainingContinuesBitForBit) {
  settings_.steps = 9;
  const std::vector<StepResult> whole = test::run(settings_, corpus_);
  settings_.checkpoint = file_;
  settings_.steps = 4;
  test::run(settings_, corpus_);
  settings_.steps = 9;
  settings_.resume = true;
  const std::vector<StepResult> rest = test::run(settings_, corpus_);
  ASSERT_EQ(rest.size(), 5U);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    EXPECT_EQ(rest[i].step, whole[i + 4].step);
    EXPECT_EQ(rest[i].loss, whole[i + 4].loss);
  }
  EXPECT_EQ(read_checkpoint(file_, Trainer(host_, settings_, corpus_).identity()).data, trained(9).data);
}

TEST_F(E88LmCheckpoint, AFailedWriteLeavesTheOldOneWhole) {
  const TrainingState first = trained(1);
  write_checkpoint(file_, first);
  std::filesystem::create_directory(file_.string() + ".writing");  // in the way of the next
  EXPECT_THROW(write_checkpoint(file_, trained(2)), std::runtime_error);
  EXPECT_EQ(read_checkpoint(file_, first.identity).step, 1);
}

TEST_F(E88LmCheckpoint, WhatAKilledWriteLeftBesideIsIgnoredAndReplaced) {
  const TrainingState state = trained(1);
  std::ofstream(file_.string() + ".writing") << std::string(1 << 20, 'x');
  EXPECT_NE(what_of([&] { read_checkpoint(file_, state.identity); }).find("no checkpoint"), std::string::npos);
  write_checkpoint(file_, state);
  EXPECT_EQ(read_checkpoint(file_, state.identity).data, state.data);
  EXPECT_FALSE(std::filesystem::exists(file_.string() + ".writing"));
}

TEST_F(E88LmCheckpoint, EveryTruncationAndEveryFlippedBitIsFound) {
  const TrainingState state = trained(1);
  write_checkpoint(file_, state);
  const std::string whole = read_file(file_);
  const auto refuses = [&](const std::string& bytes) {
    std::ofstream(file_, std::ios::binary) << bytes;
    return !what_of([&] { read_checkpoint(file_, state.identity); }).empty();
  };
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40) {
    EXPECT_TRUE(refuses(whole.substr(0, size))) << size;
  }
  for (std::size_t at = 0; at < whole.size(); at += at < 160 ? 1 : whole.size() / 40) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_TRUE(refuses(damaged)) << at;
  }
  EXPECT_TRUE(refuses(whole + "x"));
  EXPECT_FALSE(refuses(whole));
}

TEST_F(E88LmCheckpoint, AnotherTrainingIsRefused) {
  write_checkpoint(file_, trained(1));
  settings_.seed = 43;
  EXPECT_NE(what_of([&] { read_checkpoint(file_, Trainer(host_, settings_, corpus_).identity()); }).find("another"),
            std::string::npos);
  settings_.seed = 42;
  corpus_ = test::small_corpus(301);
  EXPECT_NE(what_of([&] { read_checkpoint(file_, Trainer(host_, settings_, corpus_).identity()); }).find("another"),
            std::string::npos);
}

}  // namespace
}  // namespace byte_lm
