// tests/loop/policy_test.cpp - campaign files: what they may say, and what each mistake is answered with.
#include "harness/loop/policy.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

struct PolicyTest : ::testing::Test {
  TemporaryFolder folder;
  std::filesystem::path file = folder.path() / "campaign.json";

  std::string error_of(const std::string& text) {
    write_file_atomically(file, text);
    try {
      load_policy(file);
    } catch (const UserError& error) {
      return std::string(error.what()) + " / " + error.hint();
    }
    return "";
  }
};

TEST_F(PolicyTest, TheShippedDefaultIsValid) {
  const Policy policy = load_policy(std::filesystem::path(APO_SOURCE_FOLDER) / "experiments" / "default.json");
  EXPECT_EQ(policy.family, "e88_backward");
  EXPECT_EQ(policy.workload_class, "n32");
  EXPECT_EQ(policy.iterations, 1);
}

TEST_F(PolicyTest, EveryKeyIsRead) {
  write_file_atomically(file, R"({"family": "copy", "workloads": ["n4k", "n1m"], "baseline": "copy/simple",
    "iterations": 3, "candidates_per_iteration": 2, "budget": "10m", "cache_policy": "warm",
    "judge_preset": "strict", "target": "host", "layout": "fixed", "solo_run": "20ms", "application_kernels": "e88.*backward"})");
  const Policy policy = load_policy(file);
  EXPECT_EQ(policy.workloads, (std::vector<std::string>{"n4k", "n1m"}));
  EXPECT_EQ(policy.baseline, "copy/simple");
  EXPECT_EQ(policy.iterations, 3);
  EXPECT_EQ(policy.candidates_per_iteration, 2);
  EXPECT_EQ(policy.budget_s, 600);
  EXPECT_EQ(policy.cache_policy, CachePolicy::warm);
  EXPECT_EQ(policy.judge_preset, "strict");
  EXPECT_EQ(policy.layout, Layout::fixed);
  EXPECT_EQ(policy.solo_run_s, 0.02);
  EXPECT_EQ(policy.application_kernels, "e88.*backward");
  EXPECT_FALSE(policy.application);
}

TEST_F(PolicyTest, AnApplicationIsDeclaredInTheCampaignFile) {
  const Policy example =
      load_policy(std::filesystem::path(APO_SOURCE_FOLDER) / "examples" / "softmax_training" / "campaign.json");
  ASSERT_TRUE(example.application);
  EXPECT_EQ(example.application->seeds.size(), 5U);
  expect_contains(error_of(R"({"family": "copy", "application": {"steps": 1}})"),
                  "'command' of the application is missing");
}

TEST_F(PolicyTest, AMisspeltFamilyNamesFileLineAndTheNearestOne) {
  const std::string error = error_of("{\n  \"family\": \"e88_backwrd\"\n}\n");
  expect_contains(error, "unknown family 'e88_backwrd' in " + file.string() + ":2");
  expect_contains(error, "did you mean 'e88_backward'?");
}

TEST_F(PolicyTest, EachMistakeIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"[]", "no \"family\""},
      {R"({"family": 3})", "not a string"},
      {R"({"family": "copy", "application_kernels": "("})", "'(' is no regular expression"},
      {R"({"family": "copy", "iteration": 1})", "did you mean 'iterations'?"},
      {R"({"family": "copy", "iterations": 0})", "1 to 100000"},
      {R"({"family": "copy", "iterations": -2})", "1 to 100000"},
      {R"({"family": "copy", "iterations": 1.5})", "1 to 100000"},
      {R"({"family": "copy", "iterations": "many"})", "1 to 100000"},
      {R"({"family": "copy", "workloads": []})", "not a list of names"},
      {R"({"family": "copy", "workloads": "n4k"})", "not a list of names"},
      {R"({"family": "copy", "workloads": ["n4"]})", "did you mean 'n4k'?"},
      {R"({"family": "copy", "workloads": ["n4k", "n4k"]})", "given twice"},
      {R"({"family": "e88_backward", "workloads": ["b2_t64_h4_n32", "b1_t16_h1_n4"]})", "two classes"},
      {R"({"family": "copy", "budget": "soon"})", "budget 'soon' is no time in"},
      {R"({"family": "copy", "budget": "10"})", "budget '10' has no unit in"},
      {R"({"family": "copy", "solo_run": "0s"})", "no time from 10ms to 10m"},
      {R"({"family": "copy", "solo_run": "1ms"})", "'1ms', no time from 10ms to 10m in "},
      {R"({"family": "copy", "solo_run": "11m"})", "no time from 10ms to 10m"},
      {R"({"family": "copy", "solo_run": 2})", "not a string"},
      {R"({"family": "copy", "cache_policy": "luke"})", "known: cold, warm"},
      {R"({"family": "copy", "judge_preset": "strit"})", "did you mean 'strict'?"},
      {R"({"family": "copy", "target": "tpu"})", "unknown target"}};
  for (const auto& [text, needle] : cases) {
    const std::string error = error_of(text);
    EXPECT_NE(error.find(needle), std::string::npos) << text << " gave: " << error;
  }
}

TEST_F(PolicyTest, AnAbsentFileIsNamed) {
  EXPECT_THROW(load_policy(folder.path() / "absent.json"), UserError);
}

}  // namespace
}  // namespace apo
