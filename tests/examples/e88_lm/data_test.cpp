// tests/examples/e88_lm/data_test.cpp - documents, their split, padding, and which bytes are scored.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/examples/e88_lm/small_model.h"

namespace byte_lm {
namespace {

using test::kEnd;

std::vector<std::string> texts(int count) {
  std::vector<std::string> documents;
  for (int i = 0; i < count; ++i) {
    documents.push_back("document number " + std::to_string(i));
  }
  return documents;
}

TEST(E88LmData, ContentDecidesTheSideSoThatCopiesStayTogether) {
  const std::vector<std::string> documents = texts(200);
  const Corpus once = split(documents);
  std::vector<std::string> copies(documents.rbegin(), documents.rend());
  copies.insert(copies.end(), documents.begin(), documents.end());
  const Corpus twice = split(copies);
  EXPECT_EQ(twice.train_documents, 2 * once.train_documents);
  EXPECT_EQ(twice.held_out_documents, 2 * once.held_out_documents);
  EXPECT_EQ(twice.held_out.size(), 2 * once.held_out.size() - 1);
}

TEST(E88LmData, OneDocumentInTenIsHeldOut) {
  const Corpus corpus = split(texts(2000));
  EXPECT_EQ(corpus.train_documents + corpus.held_out_documents, 2000);
  EXPECT_NEAR(static_cast<double>(corpus.held_out_documents), 200, 60);
}

TEST(E88LmData, ASideWithoutDocumentsIsRefused) {
  EXPECT_THROW(split({}), UserError);
  EXPECT_THROW(split({"alone"}), UserError);
}

TEST(E88LmData, AFileWithSeparatorsHoldsSeveralDocuments) {
  const test::Folder folder;
  std::ofstream(folder / "two.txt") << "first" << kEnd << "second" << kEnd << kEnd;
  std::ofstream(folder / "empty.txt");
  std::ofstream(folder / "picture.png") << "binary";
  std::filesystem::create_directory(folder / ".git");
  std::ofstream(folder / ".git/config.txt") << "hidden";
  EXPECT_EQ(read_documents({folder.path()}), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(read_documents({folder / "picture.png"}), (std::vector<std::string>{"binary"})) << "named, it is read";
  EXPECT_THROW(read_documents({folder / "absent"}), UserError);
}

TEST(E88LmData, SeparatorsAndPaddingAreReadAndNeverScored) {
  const std::string stream = kEnd + std::string("ab") + kEnd + "c" + kEnd;
  const Batch batch = window_batch(stream, {.batch = 1, .length = 8}, 0);
  EXPECT_EQ(batch.tokens,
            (std::vector<std::int32_t>{kSeparator, 'a', 'b', kSeparator, 'c', kSeparator, kSeparator, kSeparator}));
  EXPECT_EQ(batch.targets,
            (std::vector<std::int32_t>{'a', 'b', kNotScored, 'c', kNotScored, kNotScored, kNotScored, kNotScored}));
  EXPECT_EQ(batch.scored, 3);
}

TEST(E88LmData, WindowsScoreEveryByteOnce) {
  const Corpus corpus = test::small_corpus();
  for (const StepShape shape : {StepShape{3, 7}, StepShape{1, 64}, StepShape{2, 1000}}) {
    std::int64_t scored = 0;
    for (std::int64_t i = 0; i < window_batches(corpus.held_out, shape); ++i) {
      scored += window_batch(corpus.held_out, shape, i).scored;
    }
    EXPECT_EQ(scored, scored_bytes(corpus.held_out));
  }
}

TEST(E88LmData, WhatStandsBehindTheLastScoredByteChangesNoLoss) {
  const Corpus corpus = test::small_corpus();
  Settings settings = test::small_settings();
  const auto loss = [&](const StepShape& shape) {
    settings.shape = shape;
    Host<double> host;
    return Trainer(host, settings, corpus).held_out_loss(1);
  };
  // One window that holds all, with much padding behind it and with more.
  const auto size = static_cast<std::int64_t>(corpus.held_out.size());
  EXPECT_NEAR(loss({.batch = 1, .length = size + 10}), loss({.batch = 1, .length = size + 300}), 1e-12);
}

TEST(E88LmData, ABatchIsAFunctionOfSeedAndStep) {
  const std::string stream = test::small_corpus().train;
  const StepShape shape = {.batch = 4, .length = 33};
  const auto tokens = [&](std::uint64_t seed, std::int64_t step) {
    return training_batch(stream, shape, seed, step).tokens;
  };
  EXPECT_EQ(tokens(1, 7), tokens(1, 7));
  EXPECT_NE(tokens(1, 7), tokens(1, 8));
  EXPECT_NE(tokens(1, 7), tokens(2, 7));
}

TEST(E88LmData, RowsAreSortedByTheirByte) {
  Batch batch;
  batch.tokens = {5, 255, 5, 0, 7};
  const auto [order, starts] = batch.by_token();
  EXPECT_EQ(order, (std::vector<std::int32_t>{3, 0, 2, 4, 1}));
  EXPECT_EQ(starts[5], 1);
  EXPECT_EQ(starts[6], 3);
  EXPECT_EQ(starts[256], 5);
}

TEST(E88LmData, ByteFrequenciesOfALikelyTextCostItsEntropy) {
  Corpus corpus;
  for (int i = 0; i < 50000; ++i) {
    corpus.train += "aaab";
  }
  corpus.held_out = "abaaaaba";
  EXPECT_NEAR(byte_frequency_loss(corpus), -(0.75 * std::log(0.75) + 0.25 * std::log(0.25)), 0.01);
}

}  // namespace
}  // namespace byte_lm
