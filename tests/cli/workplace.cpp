// tests/cli/workplace.cpp - starts the program that the build made.
#include "tests/cli/workplace.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/core/system/process.h"

namespace apo {

namespace {

std::vector<std::string> command_of(const std::vector<std::string>& words) {
  std::vector<std::string> command = {APO_PROGRAM};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

}  // namespace

Ran Workplace::apo(const std::vector<std::string>& words, double timeout_s) const {
  return run(command_of(words), {}, "", timeout_s);
}

Ran Workplace::apo_with_environment(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                                    double timeout_s) const {
  return run(command_of(words), environment, "", timeout_s);
}

Ran Workplace::apo_with_input(const std::vector<std::string>& words, const std::string& input, double timeout_s) const {
  return run(command_of(words), {}, input, timeout_s);
}

Ran Workplace::program(const std::vector<std::string>& words, double timeout_s) const {
  const char* path = std::getenv("PATH");
  const std::string folder = std::filesystem::path(APO_PROGRAM).parent_path().string();
  return run(words, {"PATH=" + folder + (path == nullptr ? "" : ":" + std::string(path))}, "", timeout_s);
}

Ran Workplace::run(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                   const std::string& input, double timeout_s) const {
  ProcessOptions options{
      .timeout_s = 20 * timeout_s,  // which a machine takes that has nothing else to do
      .working_folder = folder_.path(),
      .environment = {"APO_HOME=" APO_SOURCE_FOLDER, "APO_JOURNAL=", "APO_CACHE=" APO_BINARY_FOLDER "/test-cache"},
      .input = input};
  // Tests that run beside each other do not take turns: no verdict of theirs needs quiet.
  options.environment.push_back("XDG_RUNTIME_DIR=" + folder_.path().string());
  options.environment.insert(options.environment.end(), environment.begin(), environment.end());
  const ProcessResult result = run_process(words, options);
  return {.exit_code = result.exit_code, .out = result.output, .err = result.error};
}

void Workplace::write(const std::string& name, const std::string& contents) const {
  write_file_atomically(path(name), contents);
}

std::string Workplace::variant(const std::string& name) {
  return replaced(read_file(APO_SOURCE_FOLDER "/variants/copy/simple.cpp"), "copy/simple", "copy/" + name);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "'" << from << "' is not in the text";
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

nlohmann::json only_document(const Ran& ran) {
  auto document = nlohmann::json::parse(ran.out, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << "stdout is not one JSON document: " << ran.out.substr(0, 500) << ran.err;
  if (document.is_object() && !document.contains("benchmarks")) {  // Google Benchmark's document is its own
    EXPECT_TRUE(document.contains("format")) << ran.out.substr(0, 500);
  }
  return document.is_discarded() ? nlohmann::json() : document;
}

}  // namespace apo
