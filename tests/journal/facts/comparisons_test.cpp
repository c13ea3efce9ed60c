// tests/journal/facts/comparisons_test.cpp - judgements of two commands, or of two dispatches by an application, come
// back as they were written, and stay so.
#include "journal/facts/comparisons.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "harness/core/json/records_json.h"
#include "journal/facts/campaigns.h"
#include "journal/query/queries.h"
#include "tests/core/json/round_trip.h"
#include "tests/journal/journal_test.h"
#include "tests/text.h"

namespace apo {
namespace {

using namespace apo::test;

ProgramComparison a_comparison(ComparisonPurpose purpose) {
  return {.purpose = purpose,
          .a = kAwkward,
          .b = "./new/bench --size 'a b'",
          .folder = "/tmp/place",
          .margin = purpose == ComparisonPurpose::gate ? 0.02 : 0,
          .commands = {.metric = "gbench:copy/8",
                       .correct = "diff out expected",
                       .layout = Layout::fixed,
                       .runs = 2,
                       .timeout_s = 30},
          .machine = "cpu-1",
          .started_at = "2026-01-02T03:04:05Z"};
}

Round a_command_round(RoundStage stage, int index, bool b_first) {
  const bool x = b_first;
  Round round{.stage = stage, .index = index, .seed = ~std::uint64_t{0} - 7, .candidate_in_slot0 = b_first};
  round.commands = CommandRuns{.runs = {{x, 1.0 / 3}, {!x, 0.25}, {!x, 1e-9}, {x, 7}}, .higher_is_better = false};
  round.effect = -0.0125;
  round.seconds = 0.75;
  round.environment.layout = Layout::fixed;
  round.environment.steal_percent = 1.5;
  return round;
}

Judgement a_command_judgement() {
  Judgement judgement = a_judgement(Verdict::accepted, 0.03);
  judgement.upper = std::numeric_limits<double>::infinity();
  judgement.rounds = 2;
  judgement.incumbent_ns = judgement.candidate_ns = judgement.minimum_claim = 0;  // commands have none
  judgement.cache_policy.reset();
  return judgement;
}

// Written as it is measured: the id.
std::int64_t keep(Journal& journal, ProgramComparison& comparison) {
  comparison.id = begin_comparison(journal, comparison);
  for (const Round& round : comparison.rounds) {
    add_comparison_round(journal, comparison.id, round);
  }
  for (const ApplicationRun& run : comparison.runs) {
    add_comparison_run(journal, comparison.id, run);
  }
  finish_comparison(journal, comparison);
  return comparison.id;
}

ProgramComparison a_finished_comparison() {
  ProgramComparison comparison = a_comparison(ComparisonPurpose::compare);
  comparison.rounds = {a_command_round(RoundStage::sentinel, 0, false), a_command_round(RoundStage::search, 0, true),
                       a_command_round(RoundStage::confirm, 0, false)};
  for (CommandRun& run : comparison.rounds.back().commands->runs) {  // as one of a suite
    run.values = {{kAwkward, run.value}, {"copy/8", 3e-9}};
    run.value = geometric_mean(run.values);
  }
  comparison.judgement = a_command_judgement();
  comparison.figures = {filled<Figure>()};
  comparison.figures[0].view = ComparisonView::rounds;
  comparison.figures[0].kind = FigureKind::speed;
  comparison.finished_at = "2026-01-02T03:05:05Z";
  return comparison;
}

ProgramComparison a_finished_gate() {
  ProgramComparison gate = a_comparison(ComparisonPurpose::gate);
  gate.rounds = {a_command_round(RoundStage::gate, 0, true), a_command_round(RoundStage::gate, 1, true)};
  gate.judgement = a_command_judgement();
  gate.judgement->verdict = Verdict::inconclusive;
  gate.gate = GateVerdict::regressed;
  gate.figures = a_finished_comparison().figures;
  gate.finished_at = "2026-01-02T03:05:05Z";
  return gate;
}

// A run of A failed; the speed was measured before.
ProgramComparison a_failed_application(std::int64_t campaign) {
  ProgramComparison one{.kind = ComparisonKind::application,
                        .campaign = campaign,
                        .a = kAwkward,
                        .b = "new",
                        .folder = "/tmp/place",
                        .application = an_application(),
                        .machine = "cpu-1",
                        .started_at = "2026-01-02T03:04:05Z",
                        .finished_at = "2026-01-02T03:05:05Z"};
  one.runs = {filled<ApplicationRun>(),
              {.seed = -7, .outcome = Outcome::not_finite, .evidence = "'loss' is nan", .wall_s = 1}};
  one.runs[0].view = ComparisonView::fixed_steps;
  one.runs[0].outcome = Outcome::valid;
  one.runs[0].evidence = "";
  one.runs[0].values = {{"step", 0.5}, {"loss", 1e-300}};
  one.outcome = Outcome::not_finite;
  one.failed = FailedSide::a;
  one.figures = {filled<Figure>(), filled<Figure>()};
  one.figures[0].view = one.figures[1].view = ComparisonView::fixed_steps;
  one.figures[1].kind = FigureKind::quality;
  one.figures[1].upper = std::numeric_limits<double>::infinity();
  one.figures[1].finding = QualityFinding::inconclusive;
  one.judgement = Judgement{.reason = Reason::interrupted, .sentence = kAwkward, .seconds = 9, .rule_version = "r"};
  return one;
}

using ComparisonRows = PreparedTest;

TEST_F(ComparisonRows, ComeBackAsTheyWereWritten) {
  const std::int64_t campaign = begin_campaign(journal, a_campaign());
  std::vector<ProgramComparison> written = {a_finished_comparison(), a_finished_gate(), a_failed_application(campaign),
                                            a_failed_application(0)};
  for (ProgramComparison& one : written) {
    keep(journal, one);
  }
  const std::vector<ProgramComparison> read = all_comparisons(journal, Detail::rounds);
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(to_document_with_runs(read[i]), to_document_with_runs(written[i]));
    EXPECT_EQ(read[i].rounds, written[i].rounds);
    EXPECT_EQ(read[i].judgement, written[i].judgement);
    EXPECT_EQ(read[i].commands, written[i].commands);
    EXPECT_EQ(to_document(load_comparison(journal, written[i].id)), to_document(written[i]));
  }
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
  EXPECT_EQ(journal.check_integrity(), std::vector<std::string>());
}

TEST_F(ComparisonRows, OneThatWasInterruptedKeepsItsRoundsAndHasNoVerdict) {
  const std::int64_t commands = begin_comparison(journal, a_comparison(ComparisonPurpose::compare));
  add_comparison_round(journal, commands, a_command_round(RoundStage::search, 0, true));
  const std::int64_t application = begin_comparison(journal, a_failed_application(0));
  add_comparison_run(journal, application, a_failed_application(0).runs[0]);
  EXPECT_EQ(load_comparison(journal, commands).rounds.size(), 1U);
  EXPECT_EQ(load_comparison(journal, application).runs.size(), 1U);
  for (const std::int64_t id : {commands, application}) {
    EXPECT_FALSE(load_comparison(journal, id).judgement);
  }
  for (const std::string view : {"command_comparisons", "application_comparisons"}) {
    EXPECT_EQ(run_sql(scratch.path, "SELECT state FROM " + view + " WHERE verdict IS NULL").rows.at(0).at(0),
              Cell(std::string("running")));
  }
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
}

TEST_F(ComparisonRows, TakeNothingAfterTheVerdict) {
  ProgramComparison commands = a_finished_comparison();
  ProgramComparison application = a_failed_application(0);
  keep(journal, commands);
  keep(journal, application);
  EXPECT_THROW(add_comparison_round(journal, commands.id, commands.rounds[0]), std::exception);
  EXPECT_THROW(add_comparison_run(journal, application.id, application.runs[0]), std::exception);
  EXPECT_THROW(finish_comparison(journal, commands), std::exception);
}

TEST_F(ComparisonRows, AMissingNumberIsAMistakeThatNamesTheList) {
  const std::string error = error_of([&] { load_comparison(journal, 7); });
  expect_contains(error, "no comparison c7");
  expect_contains(error, "apo query --sql");
}

TEST_F(ComparisonRows, AVerdictThatDoesNotFollowIsFound) {
  ProgramComparison comparison = a_finished_comparison();
  comparison.judgement->rounds = 3;  // two count
  keep(journal, comparison);
  const auto findings = journal.check_invariants();
  ASSERT_EQ(findings.size(), 1U);
  expect_contains(findings.front(), "a verdict on two commands has the rounds");
}

TEST_F(ComparisonRows, AnAcceptThatLostItsQualityBreaksAnInvariant) {
  ProgramComparison one = a_failed_application(0);
  one.outcome = Outcome::valid;
  one.judgement->verdict = Verdict::accepted;
  one.judgement->rounds = 1;
  keep(journal, one);
  const auto findings = journal.check_invariants();
  ASSERT_EQ(findings.size(), 1U);
  expect_contains(findings.front(), "kept its quality");
}

}  // namespace
}  // namespace apo
