// main.cpp - e88_lm: flags, texts, one training.
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "cuda/run.h"
#include "data/error.h"
#include "host/host.h"
#include "training/trainer.h"

namespace {

using namespace byte_lm;
namespace fs = std::filesystem;

std::vector<fs::path> texts_of(const Settings& settings) {
  if (!settings.texts.empty()) {
    return {settings.texts.begin(), settings.texts.end()};
  }
  std::vector<fs::path> texts;
  for (const char* folder : {"README.md", "docs", "harness", "journal", "kernels", "reports", "variants"}) {
    texts.push_back(fs::path(E88_LM_REPOSITORY) / folder);
  }
  return texts;
}

int run(const Settings& settings, Clock::time_point began) {
  if (settings.check) {
    return check_on_cuda(settings);
  }
  if (settings.prepare) {
    return prepare_on_cuda(settings);
  }
  const Corpus corpus = split(read_documents(texts_of(settings)));
  print_corpus(stderr, corpus);
  const auto report = [](const StepResult& result) { print_step(stdout, result); };
  if (settings.device == "cuda") {
    print_summary(stderr, train_on_cuda(settings, corpus, began, report));
  } else {
    Host<float> host;
    print_summary(stderr, train(host, settings, corpus, began, report));
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const Clock::time_point began = Clock::now();
  try {
    const Settings settings =
        parse_settings({arguments + 1, arguments + count}, [](const char* name) { return std::getenv(name); });
    if (settings.help) {
      std::fputs(help_text().c_str(), stdout);
      return 0;
    }
    return run(settings, began);
  } catch (const UserError& error) {
    std::fprintf(stderr, "e88_lm: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "e88_lm: %s\n", error.what());
    return 2;
  }
}
