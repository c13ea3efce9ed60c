// tests/journal/facts/memory_test.cpp - hand-kept journals in tables of their own, and the conditions of lessons.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/hand_kept/hand_kept.h"
#include "journal/query/queries.h"
#include "tests/journal/samples.h"

namespace apo {
namespace {

using namespace apo::test;

HandKeptRow a_row() {
  HandKeptRow row{.line = 841,
                  .date = "2026-02-17",
                  .device_claimed = "A100 80GB",
                  .device_deduced = "RTX 6000",
                  .target = Target::cuda,
                  .scope = HandKeptScope::step,
                  .subject = "E88 training",
                  .axes = {{"B", 16}, {"steps", 200}},
                  .techniques = {"fused-l2-norm", "padded-cache"},
                  .joint = true,
                  .baseline = kAwkward,
                  .quantity = HandKeptQuantity::throughput,
                  .unit = "tokens/s",
                  .predicted_scope = HandKeptScope::kernel,
                  .samples = 100,
                  .warm_up = "30 steps",
                  .verdict = Verdict::accepted,
                  .in_code = false,
                  .superseded_by = 1160,
                  .note = kAwkward};
  row.before = *stated_number("19153", false);
  row.after = *stated_number("~19612", false);
  row.change = *stated_number("+2.4 %", true);
  row.predicted = *stated_number("3..5 %", true);
  return row;
}

void expect_equal(const StatedNumber& a, const StatedNumber& b) {
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

TEST(HandKeptJournals, ARowReadsBackAsItWasWritten) {
  Scratch scratch;
  Journal journal = scratch.open();
  const HandKeptRow row = a_row();
  journal.add_hand_kept({.title = "E88 journal", .sha256 = "s", .rows = {row, {.line = 1160}}});
  const std::vector<HandKeptJournal> all = journal.hand_kept();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].title, "E88 journal");
  EXPECT_EQ(all[0].sha256, "s");
  ASSERT_EQ(all[0].rows.size(), 2u);
  const HandKeptRow& back = all[0].rows[0];
  EXPECT_EQ(back.line, row.line);
  EXPECT_EQ(back.date, row.date);
  EXPECT_EQ(back.device_claimed, row.device_claimed);
  EXPECT_EQ(back.device_deduced, row.device_deduced);
  EXPECT_EQ(back.target, row.target);
  EXPECT_EQ(back.scope, row.scope);
  EXPECT_EQ(back.subject, row.subject);
  EXPECT_EQ(back.axes, row.axes);
  EXPECT_EQ(back.techniques, row.techniques);
  EXPECT_EQ(back.joint, row.joint);
  EXPECT_EQ(back.baseline, row.baseline);
  EXPECT_EQ(back.quantity, row.quantity);
  EXPECT_EQ(back.unit, row.unit);
  expect_equal(back.before, row.before);
  expect_equal(back.after, row.after);
  expect_equal(back.change, row.change);
  expect_equal(back.predicted, row.predicted);
  EXPECT_EQ(back.predicted_scope, row.predicted_scope);
  EXPECT_EQ(back.samples, row.samples);
  EXPECT_EQ(back.warm_up, row.warm_up);
  EXPECT_EQ(back.verdict, row.verdict);
  EXPECT_EQ(back.in_code, row.in_code);
  EXPECT_EQ(back.superseded_by, row.superseded_by);
  EXPECT_EQ(back.note, row.note);
  EXPECT_FALSE(all[0].rows[1].verdict);
  EXPECT_FALSE(all[0].rows[1].in_code);
  EXPECT_EQ(all[0].rows[1].before.text, "");
}

TEST(HandKeptJournals, TheNewestImportOfATitleCounts) {
  Scratch scratch;
  Journal journal = scratch.open();
  journal.add_hand_kept({.title = "a", .sha256 = "1", .rows = {{.line = 1}}});
  journal.add_hand_kept({.title = "b", .sha256 = "2", .rows = {{.line = 2}}});
  journal.add_hand_kept({.title = "a", .sha256 = "3", .rows = {{.line = 3}, {.line = 4}}});
  const std::vector<HandKeptJournal> all = journal.hand_kept();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].title, "b");
  EXPECT_EQ(all[1].sha256, "3");
  EXPECT_EQ(all[1].rows.size(), 2u);
  EXPECT_EQ(query_hand_kept(journal, {}).rows.size(), 3u);
}

TEST(HandKeptJournals, StandApartFromWhatWasJudged) {
  Scratch scratch;
  Journal journal = scratch.open();
  journal.add_hand_kept({.title = "a", .rows = {a_row(), {.line = 1160}}});
  EXPECT_TRUE(journal.lessons().empty());
  EXPECT_TRUE(journal.incumbents().empty());
  EXPECT_TRUE(run_query(journal, {}).rows.empty());
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
}

TEST(HandKeptJournals, AMissingLineThatSupersedesIsFoundByTheInvariants) {
  Scratch scratch;
  Journal journal = scratch.open();
  journal.add_hand_kept({.title = "a", .rows = {a_row()}});
  ASSERT_EQ(journal.check_invariants().size(), 1u);
  EXPECT_NE(journal.check_invariants()[0].find("a line that supersedes another one"), std::string::npos);
}

TEST(HandKeptJournals, AreFoundByThePredicatesOfExperiments) {
  Scratch scratch;
  Journal journal = scratch.open();
  HandKeptRow other{.line = 5, .date = "2026-02-14", .subject = "e88_backward", .techniques = {"fused-dk"}};
  journal.add_hand_kept({.title = "a", .rows = {a_row(), other, {.line = 1160}}});
  const auto lines = [&](const std::vector<std::string>& words) {
    std::vector<std::int64_t> found;
    for (const auto& row : query_hand_kept(journal, parse_query(words)).rows) {
      found.push_back(std::get<std::int64_t>(row[1]));
    }
    return found;
  };
  using Lines = std::vector<std::int64_t>;
  EXPECT_EQ(lines({"technique=padded-cache"}), Lines{841});
  EXPECT_EQ(lines({"technique~fused"}), (Lines{5, 841}));
  EXPECT_EQ(lines({"technique!=fused-dk"}), (Lines{841, 1160}));
  EXPECT_EQ(lines({"family=e88_backward"}), Lines{5});
  EXPECT_EQ(lines({"verdict=accepted"}), Lines{841});
  EXPECT_EQ(lines({"speedup>1.02"}), Lines{841});
  EXPECT_EQ(lines({"until=2026-02-15", "technique=fused-dk"}), Lines{5});
  EXPECT_EQ(lines({"limit=1"}), Lines{5});
  EXPECT_NE(user_error([&] { lines({"rounds>3"}); }).find("has no 'rounds'"), std::string::npos);
  EXPECT_NE(user_error([&] { lines({"sort=speedup"}); }).find("takes no --sort"), std::string::npos);
}

// An iteration with a profile of the incumbent, and one experiment in it.
TEST(Lessons, KnowTheConditionThatTheyWereLearntUnder) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
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

TEST(Lessons, WithoutAnExperimentOrAProfileHaveNoMoreThanTheModel) {
  Scratch scratch;
  Journal journal = scratch.open();
  prepare(journal);
  Lesson lesson = a_lesson(an_experiment(0, 0));
  lesson.experiment = 0;
  journal.add_lesson(lesson);
  const LessonCondition condition = journal.lessons().at(0).condition;
  EXPECT_EQ(condition.model, a_machine().model);
  EXPECT_TRUE(condition.workloads.empty());
  EXPECT_EQ(condition.stall, "");
}

}  // namespace
}  // namespace apo
