// tests/research/lesson_condition_test.cpp - what an incumbent waits for is part of a lesson's condition.
#include "harness/research/lesson_condition.h"

#include <gtest/gtest.h>

#include "harness/research/prediction/evidence.h"
#include "harness/research/research.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::lesson;
using fixtures::result;
using fixtures::variant;

Profile waiting(double barrier, double memory) {
  Profile profile;
  profile.metrics = {{.name = "stall_barrier", .value = barrier},
                     {.name = "stall_long_scoreboard", .value = memory},
                     {.name = "stall_selected", .value = 0.9}};
  return profile;
}

TEST(LessonCondition, ChangesWhereTheStallOfThenIsHalfOfTheLargestOrLess) {
  const LessonCondition then{.stall = "barrier", .stall_share = 0.4};
  EXPECT_EQ(changed_stall(then, waiting(0.4, 0.2)), "");
  EXPECT_EQ(changed_stall(then, waiting(0.21, 0.4)), "") << "two nearly equal ones change places";
  EXPECT_EQ(changed_stall(then, waiting(0.1, 0.4)),
            "the incumbent waited for barriers then and waits for global or local memory now");
}

TEST(LessonCondition, HoldsWhereNobodySampled) {
  EXPECT_EQ(changed_stall({}, waiting(0.1, 0.4)), "");
  EXPECT_EQ(changed_stall({.stall = "barrier"}, Profile()), "");
}

ResearchInputs lost_to_barriers() {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.2, 1.4)});
  in.model = "NVIDIA H200";
  in.lessons = {lesson(result(12, "a", "simple", 0.97, Verdict::reverted))};
  in.lessons[0].condition = {.model = "NVIDIA H200", .workloads = {"w"}, .stall = "barrier", .stall_share = 0.4};
  return in;
}

Subject subject_named(const std::string& name) {
  return {.configuration = {.variant = "toy/" + name, .settings = {}}, .source_hash = "hash-" + name};
}

TEST(Evidence, ARefutationHoldsOnAnotherDeviceOfTheModel) {
  ResearchInputs in = lost_to_barriers();
  in.machine = "another H200";
  EXPECT_EQ(Evidence(in).refuted(subject_named("a"), subject_named("simple")), "refuted by experiment 12: 0.97x");
  in.model = "NVIDIA A100";
  EXPECT_EQ(Evidence(in).refuted(subject_named("a"), subject_named("simple")), "");
}

TEST(Evidence, ARefutationIsOfTheWorkloadThatItsConditionNames) {
  ResearchInputs in = lost_to_barriers();
  in.lessons[0].condition.workloads = {"another"};
  EXPECT_EQ(Evidence(in).refuted(subject_named("a"), subject_named("simple")), "");
}

TEST(Evidence, ARefutationExpiresWithWhatTheIncumbentWaitsForAndSaysSo) {
  ResearchInputs in = lost_to_barriers();
  in.diagnosis.profile.metrics = waiting(0.4, 0.1).metrics;
  EXPECT_TRUE(research(in).ranked.empty());
  EXPECT_EQ(Evidence(in).expired(subject_named("a"), subject_named("simple")), "");
  in.diagnosis.profile.metrics = waiting(0.05, 0.4).metrics;
  const ResearchBrief brief = research(in);
  ASSERT_EQ(brief.ranked.size(), 1u);
  EXPECT_NE(brief.ranked[0].why.find("Now experiment 12 refuted it, but the incumbent waited for barriers then and "
                                     "waits for global or local memory now"),
            std::string::npos)
      << brief.ranked[0].why;
}

}  // namespace
}  // namespace apo
