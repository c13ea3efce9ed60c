// tests/evaluate/programs/step_lines_test.cpp - what an application may print, and what voids its run.
#include "harness/evaluate/programs/step_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/text.h"

namespace apo {
namespace {

DeclaredApplication an_application(bool rate = false) {
  return {.metrics = {{.name = rate ? "tokens" : "step", .role = MetricRole::speed, .higher_is_better = rate},
                      {.name = "loss", .role = MetricRole::quality, .margin = 0.01}},
          .warmup_steps = 2,
          .steps = 3,
          .seeds = {1}};
}

std::string line_of(int step, const std::string& loss = "2.5", double seconds = 1) {
  return fmt::format("{{\"apo_step\": {}, \"seconds\": {}, \"loss\": {}, \"tokens\": 100}}", step, seconds, loss);
}

// Of lines that come a second apart, after a start-up of ten.
StepReader read_all(const std::vector<std::string>& lines, double apart_s = 1) {
  StepReader reader;
  double now = 10;
  for (const std::string& line : lines) {
    if (!reader.add(line, now)) {
      break;
    }
    now += apart_s;
  }
  return reader;
}

Failure failure_of(const std::vector<std::string>& lines) {
  const StepReader reader = read_all(lines);
  return reader.failure().value_or(Failure{.outcome = Outcome::valid});
}

const std::vector<std::string> kFive = {line_of(1, "9"), line_of(2, "8"), line_of(3, "3"), line_of(4, "2"),
                                        line_of(5, "1")};

TEST(StepLines, TheTimeIsFromTheLastLineOfTheWarmUpAndTheQualityIsOfWhatFollows) {
  ApplicationRun run;
  EXPECT_FALSE(summarise_steps(an_application(), read_all(kFive).steps(), run));
  EXPECT_EQ(run.start_up_s, 10);
  EXPECT_EQ(run.steps, 3);
  EXPECT_EQ(run.seconds, 3);
  EXPECT_EQ(run.values.at("step"), 1);
  EXPECT_EQ(run.values.at("loss"), 2);
}

TEST(StepLines, ARateIsASumOverTheTimeByAposClock) {
  ApplicationRun run;
  EXPECT_FALSE(summarise_steps(an_application(true), read_all(kFive).steps(), run));
  EXPECT_EQ(run.values.at("tokens"), 100);
}

TEST(StepLines, AMeanMayBeOverTheLastSteps) {
  DeclaredApplication application = an_application();
  application.metrics[1].last = 2;
  ApplicationRun run;
  EXPECT_FALSE(summarise_steps(application, read_all(kFive).steps(), run));
  EXPECT_EQ(run.values.at("loss"), 1.5);
}

TEST(StepLines, OtherLinesAreTheProgramsOwnAffair) {
  std::vector<std::string> lines = {"loading", "{\"loss\": 1}", "", "[apo_step]"};
  lines.insert(lines.end(), kFive.begin(), kFive.end());
  EXPECT_EQ(read_all(lines).steps().size(), 5U);
}

TEST(StepLines, NothingButFiniteNumbersCounts) {
  for (const char* loss : {"NaN", "nan", "-nan", "inf", "-Infinity", "null"}) {
    const Failure failure = failure_of({line_of(1), line_of(2, loss)});
    EXPECT_EQ(failure.outcome, Outcome::not_finite) << loss;
    expect_contains(failure.evidence, "'loss' of step 2");
  }
  EXPECT_EQ(failure_of({R"({"apo_step": 1, "seconds": 1, "loss": 2, "gradient": inf})"}).outcome, Outcome::not_finite)
      << "also of what is no metric";
}

TEST(StepLines, AStepHasOneLineAndAValueInItOnce) {
  EXPECT_EQ(failure_of({line_of(1), line_of(1)}).evidence, "step 1 has two lines");
  EXPECT_EQ(failure_of({line_of(1), line_of(3)}).evidence, "step 3 follows step 1");
  const Failure twice = failure_of({R"({"apo_step": 1, "seconds": 1, "loss": 2, "loss": 3})"});
  EXPECT_EQ(twice.outcome, Outcome::no_metric);
  expect_contains(twice.evidence, "has 'loss' twice");
}

TEST(StepLines, ALineOfAStepThatIsBrokenIsNotSkipped) {
  for (const char* line : {R"({"apo_step": 1, "seconds": 1, "loss": )", R"({"apo_step": "1", "seconds": 1})",
                           R"({"apo_step": 1, "loss": 2})", R"({"apo_step": 1, "seconds": -1})"}) {
    EXPECT_EQ(failure_of({line}).outcome, Outcome::no_metric) << line;
  }
}

TEST(StepLines, MissingStepsAndMetricsAreFound) {
  ApplicationRun run;
  EXPECT_EQ(summarise_steps(an_application(), {}, run)->outcome, Outcome::no_metric);
  const auto few = summarise_steps(an_application(), read_all({line_of(1), line_of(2)}).steps(), run);
  EXPECT_EQ(few->evidence, "it printed the lines of 2 steps, and APO_STEPS asked for 5");
  DeclaredApplication other = an_application();
  other.metrics[1].name = "accuracy";
  EXPECT_EQ(summarise_steps(other, read_all(kFive).steps(), run)->evidence, "none of the last 3 steps has 'accuracy'");
  other = an_application(true);
  other.metrics[0].name = "images";
  EXPECT_EQ(summarise_steps(other, read_all(kFive).steps(), run)->outcome, Outcome::no_metric);
}

TEST(StepLines, LinesThatComeAllAtOnceWereBuffered) {
  ApplicationRun run;
  const auto failure = summarise_steps(an_application(), read_all(kFive, 0.001).steps(), run);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::unstable_clock);
  expect_contains(failure->evidence, "flushed");
}

TEST(StepLines, ShortStepsWhoseLinesComeAllAtOnceWereHeldUpAndAreNotTooShort) {
  ApplicationRun run;
  const std::vector<std::string> lines = {line_of(1, "9", 0.01), line_of(2, "8", 0.01), line_of(3, "3", 0.01),
                                          line_of(4, "2", 0.01), line_of(5, "1", 0.01)};
  EXPECT_FALSE(summarise_steps(an_application(), read_all(lines, 0.01).steps(), run));
  const auto failure = summarise_steps(an_application(), read_all(lines, 0.001).steps(), run);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::unstable_clock);
}

TEST(StepLines, ARunThatIsTooShortForLinesIsNotTimed) {
  ApplicationRun run;
  const std::vector<std::string> lines = {line_of(1, "9", 0.001), line_of(2, "8", 0.001), line_of(3, "3", 0.001),
                                          line_of(4, "2", 0.001), line_of(5, "1", 0.001)};
  const auto failure = summarise_steps(an_application(), read_all(lines, 0.001).steps(), run);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, Outcome::no_metric);
  EXPECT_EQ(run.steps, 3) << "its caller can ask for more steps";
  EXPECT_GT(run.seconds, 0);
}

}  // namespace
}  // namespace apo
