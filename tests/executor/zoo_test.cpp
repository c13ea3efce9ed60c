// tests/executor/zoo_test.cpp - every broken kernel is found out by name and line; every look-alike passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "harness/core/text.h"
#include "tests/executor/cpu_runtime_fixture.h"
#include "tests/processes.h"

namespace apo::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kZoo = fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "executor";

struct Expectation {
  std::string outcome;
  std::vector<std::string> evidence;
  int line = 0;  // that has the comment "found here"; 0 when none has
};

Expectation expectation_of(const fs::path& path) {
  Expectation expectation;
  std::ifstream stream(path);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const auto after = [&](const std::string& prefix) {
      return line.starts_with(prefix) ? trim(line.substr(prefix.size())) : "";
    };
    expectation.outcome += after("// zoo: expect ");
    if (const std::string words = after("// zoo: evidence "); !words.empty()) {
      for (const std::string& part : split(words, ',')) {
        expectation.evidence.push_back(trim(part));
      }
    }
    expectation.line = line.ends_with("// found here") ? number : expectation.line;
  }
  return expectation;
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(kZoo)) {
    found.push_back(entry.path().stem().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

const CpuRuntime& cpu() {
  static const CpuRuntime runtime("copy", "tests/zoo/executor", kPatience);
  return runtime;
}

CheckResult check(const std::string& name, std::uint64_t seed, bool sanitize = false,
                  std::chrono::milliseconds deadline = kPatience) {
  const CheckCase one{.workload = "n1001", .axes = {{"n", 1001}}, .regimes = {"typical"}};
  Runtime runtime = cpu().runtime();
  runtime.worker.deadline = deadline;
  return check_case(runtime, {.variant = "copy/" + name, .settings = {}}, one, seed, sanitize);
}

class ExecutorZoo : public ::testing::TestWithParam<std::string> {};

TEST_P(ExecutorZoo, GetsItsOutcome) {
  const std::string file = GetParam() + ".cu";
  const Expectation expectation = expectation_of(kZoo / file);
  ASSERT_FALSE(expectation.outcome.empty()) << "the file has no line '// zoo: expect OUTCOME'";
  // One that never ends does not end in this time either, and what comes before its call does on any machine.
  const std::chrono::milliseconds deadline = expectation.outcome == "timed_out" ? std::chrono::seconds(3) : kPatience;
  // In every order of the threads.
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const CheckResult result = check(GetParam(), seed, false, deadline);
    EXPECT_EQ(to_string(result.outcome), expectation.outcome) << result.evidence;
    for (const std::string& words : expectation.evidence) {
      EXPECT_NE(result.evidence.find(words), std::string::npos) << "no '" << words << "' in: " << result.evidence;
    }
    if (expectation.line > 0) {
      const std::string place = file + ":" + std::to_string(expectation.line);
      EXPECT_NE(result.evidence.find(place), std::string::npos) << "no '" << place << "' in: " << result.evidence;
    }
    if (expectation.outcome == "timed_out") {
      return;  // the same for every seed, and slow
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ExecutorZoo, ::testing::ValuesIn(names()),
                         [](const auto& kernel) { return kernel.param; });

TEST(ExecutorZooFolder, HasBrokenKernelsAndHonestLookAlikes) {
  const std::vector<std::string> all = names();
  const auto honest = std::count_if(all.begin(), all.end(), [](const std::string& name) {
    return expectation_of(kZoo / (name + ".cu")).outcome == "valid";
  });
  EXPECT_GE(honest, 10);
  EXPECT_GE(static_cast<std::ptrdiff_t>(all.size()) - honest, 15);
}

TEST(Executor, TheSameSeedGivesTheSameFinding) {
  const std::string first = check("race_of_neighbours", 7).evidence;
  EXPECT_EQ(first, check("race_of_neighbours", 7).evidence);
  EXPECT_NE(first, check("race_of_neighbours", 8).evidence) << "another order of the threads, another pair of them";
}

TEST(Executor, SanitizedBuildOfHonestCodeIsSilent) {
  for (const char* name : {"honest_double_buffer", "honest_name_of_libc", "honest_shuffles", "honest_two_kernels"}) {
    const CheckResult result = check(name, 1, true);
    EXPECT_EQ(result.outcome, Outcome::valid) << result.evidence;
  }
}

}  // namespace
}  // namespace apo::testing
