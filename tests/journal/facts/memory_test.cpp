// tests/journal/facts/memory_test.cpp - the conditions of lessons.
#include "tests/journal/journal_test.h"

namespace apo {
namespace {

using namespace apo::test;

using Lessons = PreparedTest;

// An iteration with a profile of the incumbent, and one experiment in it.
TEST_F(Lessons, KnowTheConditionThatTheyWereLearntUnder) {
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  const std::int64_t iteration = journal.begin_iteration({.campaign = campaign, .index = 1});
  Experiment experiment = an_experiment(campaign, iteration);
  journal.add_profile({.configuration = experiment.incumbent,
                       .metrics = {{"stall_barrier", 0.2, "ratio", {}, {}, 1},
                                   {"stall_selected", 0.5, "ratio", {}, {}, 1},
                                   {"stall_long_scoreboard", 0.3, "ratio", {}, {}, 1}}},
                      {.machine = "cpu-1", .iteration = iteration});
  experiment.id = journal.begin_experiment(experiment);
  journal.finish_experiment(experiment, a_lesson(experiment));
  const LessonCondition condition = journal.lessons().at(0).condition;
  EXPECT_EQ(condition.model, a_machine().model);
  EXPECT_EQ(condition.workloads, experiment.workloads);
  EXPECT_EQ(condition.stall, "long_scoreboard");
  EXPECT_EQ(condition.stall_share, 0.3);
}

TEST_F(Lessons, WithoutAProfileHaveNoStall) {
  add_lesson(journal, a_lesson(an_experiment(0, 0)));
  const LessonCondition condition = journal.lessons().at(0).condition;
  EXPECT_EQ(condition, (LessonCondition{.model = a_machine().model, .workloads = an_experiment(0, 0).workloads}));
}

}  // namespace
}  // namespace apo
