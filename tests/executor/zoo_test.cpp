// tests/executor/zoo_test.cpp - every broken kernel is found out by name and line; every look-alike passes.
#include <gtest/gtest.h>

#include <string>

#include "tests/executor/cpu_runtime_fixture.h"
#include "tests/processes.h"
#include "tests/text.h"
#include "tests/zoo/notes.h"

namespace apo::testing {
namespace {

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
  const std::string source = read_file(zoo("executor") / file);
  const std::string expected = says(source, "expect");
  ASSERT_FALSE(expected.empty()) << "the file has no line '// zoo: expect OUTCOME'";
  // One that never ends does not end in this time either, and what comes before its call does on any machine.
  const std::chrono::milliseconds deadline = expected == "timed_out" ? std::chrono::seconds(3) : kPatience;
  // In every order of the threads.
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const CheckResult result = check(GetParam(), seed, false, deadline);
    EXPECT_EQ(to_string(result.outcome), expected) << result.evidence;
    expect_words(result.evidence, source);
    if (const std::ptrdiff_t line = line_marked(source, "found here"); line > 0) {
      expect_contains(result.evidence, file + ":" + std::to_string(line));
    }
    if (expected == "timed_out") {
      return;  // the same for every seed, and slow
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ExecutorZoo, ::testing::ValuesIn(zoo_names("executor")),
                         [](const auto& kernel) { return kernel.param; });

TEST(ExecutorZooFolder, HasBrokenKernelsAndHonestLookAlikes) {
  expect_liars_and_look_alikes("executor", ".cu", 10, 15);
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
