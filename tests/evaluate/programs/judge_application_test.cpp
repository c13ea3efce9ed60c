// tests/evaluate/programs/judge_application_test.cpp - steps that a machine is too fast for are done more often.
#include <gtest/gtest.h>

#include "harness/core/system/files.h"
#include "harness/evaluate/programs/judge_programs.h"
#include "tests/text.h"

namespace apo {
namespace {

// A program whose steps take no time: `seq` of them.
ProgramComparison judge_instant_steps(const std::string& last_step) {
  const TemporaryFolder folder;
  const std::string dispatch = (folder.path() / "dispatch").string();
  write_file_atomically(dispatch, "");
  ProgramComparison comparison{
      .kind = ComparisonKind::application,
      .a = dispatch,
      .b = dispatch,
      .folder = folder.path().string(),
      .application = {.command = {"sh", "-c",
                                  "for i in $(seq " + last_step +
                                      R"(); do echo "{\"apo_step\": $i, \"seconds\": 0, \"loss\": 1}"; done)"},
                      .metrics = {{.name = "step", .role = MetricRole::speed},
                                  {.name = "loss", .role = MetricRole::quality, .margin = 0.1}},
                      .warmup_steps = 1,
                      .steps = 4,
                      .seeds = {1, 2, 3, 4, 5},
                      .pairs = 5}};
  SilentObserver silent;
  judge_programs(comparison, 1, nullptr, silent);
  return comparison;
}

TEST(JudgeApplication, StepsThatAreTooShortToBeTimedAreDoneMoreOften) {
  const ProgramComparison judged = judge_instant_steps("$APO_STEPS");
  EXPECT_EQ(judged.outcome, Outcome::valid) << judged.judgement->sentence;
  ASSERT_EQ(judged.runs.size(), 10U);
  for (const ApplicationRun& run : judged.runs) {
    EXPECT_GT(run.steps, judged.application.steps);
    EXPECT_EQ(run.steps, judged.runs.front().steps) << "the quality is that of as many steps";
  }
}

TEST(JudgeApplication, AProgramThatCannotDoMoreStepsIsToldWhyAndWhatToDo) {
  const ProgramComparison judged = judge_instant_steps("5");
  EXPECT_EQ(judged.outcome, Outcome::no_metric);
  EXPECT_EQ(judged.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(judged.runs.size(), 2U);
  for (const char* words : {"the lines of 5 steps", "the declared 4 steps are too short", "as APO_STEPS says"}) {
    expect_contains(judged.judgement->sentence, words);
  }
}

}  // namespace
}  // namespace apo
