// tests/worker/zoo_test.cpp - every misbehaving candidate gets the outcome that its file expects.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/worker/candidates.h"
#include "tests/zoo/notes.h"

namespace apo::testing {
namespace {

// What this kernel can hold a candidate with.
std::string confinement_here() {
  Worker worker(worker_options());
  const auto loaded = worker.load(0, compile(zoo_source("honest_limits")).object);
  EXPECT_TRUE(loaded) << loaded.failure().evidence;
  return worker.confinement();
}

class Zoo : public ::testing::TestWithParam<std::string> {};

TEST_P(Zoo, GetsItsOutcome) {
  const std::string source = read_file(zoo_source(GetParam()));
  const std::string expected = says(source, "expect");
  ASSERT_FALSE(expected.empty()) << "the file has no line '// zoo: expect OUTCOME'";
  const std::string needs = says(source, "needs");
  if (!needs.empty() && confinement_here().find(needs) == std::string::npos) {
    GTEST_SKIP() << "this kernel has no " << needs;
  }
  const Compiled compiled = compile(zoo_source(GetParam()));
  std::optional<Failure> failure;
  if (compiled.ok) {
    failure = judge(compiled.object, expected == "timed_out" ? impatient_options() : worker_options());
  } else {
    failure = Failure{Outcome::build_failed, compiled.log};
  }
  const std::string outcome(to_string(failure ? failure->outcome : Outcome::valid));
  const std::string evidence = failure ? failure->evidence : "";
  EXPECT_EQ(outcome, expected) << evidence;
  expect_words(evidence, source);
  RecordProperty("evidence", evidence);

  const auto next = judge(compile(zoo_source("honest_double_buffer")).object);
  EXPECT_FALSE(next) << "the worker after it fails: " << next->evidence;
}

INSTANTIATE_TEST_SUITE_P(Host, Zoo, ::testing::ValuesIn(zoo_names("host")),
                         [](const auto& candidate) { return candidate.param; });

TEST(ZooFolder, HasLiarsAndHonestLookAlikes) {
  expect_liars_and_look_alikes("host", ".cpp", 5, 30);
}

}  // namespace
}  // namespace apo::testing
