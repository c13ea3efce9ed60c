// tests/worker/zoo_test.cpp - every misbehaving candidate gets the outcome that its file expects.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/worker/candidates.h"

namespace apo::testing {
namespace {

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(zoo_folder())) {
    if (entry.path().extension() == ".cpp") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

// What this kernel can hold a candidate with.
std::string confinement_here() {
  Worker worker(worker_options());
  const auto loaded = worker.load(0, compile(zoo_source("honest_limits")).object);
  EXPECT_TRUE(loaded) << loaded.failure().evidence;
  return worker.confinement();
}

class Zoo : public ::testing::TestWithParam<std::string> {};

TEST_P(Zoo, GetsItsOutcome) {
  const Expectation expectation = expectation_of(zoo_source(GetParam()));
  ASSERT_FALSE(expectation.outcome.empty()) << "the file has no line '// zoo: expect OUTCOME'";
  if (!expectation.needs.empty() && confinement_here().find(expectation.needs) == std::string::npos) {
    GTEST_SKIP() << "this kernel has no " << expectation.needs;
  }
  const Compiled compiled = compile(zoo_source(GetParam()));
  std::optional<Failure> failure;
  if (compiled.ok) {
    failure = judge(compiled.object, expectation.outcome == "timed_out" ? impatient_options() : worker_options());
  } else {
    failure = Failure{Outcome::build_failed, compiled.log};
  }
  const std::string outcome(to_string(failure ? failure->outcome : Outcome::valid));
  const std::string evidence = failure ? failure->evidence : "";
  EXPECT_EQ(outcome, expectation.outcome) << evidence;
  for (const std::string& words : expectation.evidence) {
    EXPECT_NE(evidence.find(words), std::string::npos) << "no '" << words << "' in: " << evidence;
  }
  RecordProperty("evidence", evidence);

  const auto next = judge(compile(zoo_source("honest_double_buffer")).object);
  EXPECT_FALSE(next) << "the worker after it fails: " << next->evidence;
}

INSTANTIATE_TEST_SUITE_P(Host, Zoo, ::testing::ValuesIn(zoo_names()),
                         [](const auto& candidate) { return candidate.param; });

TEST(ZooFolder, HasLiarsAndHonestLookAlikes) {
  const std::vector<std::string> names = zoo_names();
  const auto honest = std::count_if(names.begin(), names.end(), [](const std::string& name) {
    return expectation_of(zoo_source(name)).outcome == "valid";
  });
  EXPECT_GE(honest, 5);
  EXPECT_GE(static_cast<std::ptrdiff_t>(names.size()) - honest, 30);
}

}  // namespace
}  // namespace apo::testing
