// tests/examples/e88_lm/small_model.h - texts, settings and folders for the tests of the language model.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "harness/core/system/files.h"
#include "host/host.h"
#include "training/trainer.h"

namespace byte_lm::test {

inline const char kEnd = static_cast<char>(kSeparator);

inline Settings small_settings() {
  Settings settings;
  settings.device = "host";
  settings.size = {.dim = 16, .depth = 2, .heads = 3, .state = 8};
  settings.shape = {.batch = 2, .length = 21};
  settings.steps = 4;
  return settings;
}

// Sentences about numbers, one a document.
inline Corpus small_corpus(int documents = 300) {
  std::vector<std::string> texts;
  for (int i = 0; i < documents; ++i) {
    texts.push_back("the square of " + std::to_string(i) + " is " + std::to_string(i * i) + ".\n");
  }
  return split(texts);
}

inline std::vector<StepResult> run(const Settings& settings, const Corpus& corpus) {
  std::vector<StepResult> steps;
  Host<float> host;
  train(host, settings, corpus, Clock::now(), [&](const StepResult& step) { steps.push_back(step); });
  return steps;
}

struct Folder : apo::TemporaryFolder {
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }
};

}  // namespace byte_lm::test
