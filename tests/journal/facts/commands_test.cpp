// tests/journal/facts/commands_test.cpp - judgements of two commands come back as they were written, and stay so.
#include <limits>
#include <utility>

#include "journal/query/queries.h"
#include "tests/journal/journal_test.h"

namespace apo {
namespace {

using namespace apo::test;

CommandComparison a_comparison(CommandPurpose purpose) {
  return {.purpose = purpose,
          .command_a = kAwkward,
          .command_b = "./new/bench --size 'a b'",
          .folder = "/tmp/place",
          .metric = "gbench:copy/8",
          .higher_is_better = false,
          .correct = "diff out expected",
          .margin = purpose == CommandPurpose::gate ? 0.02 : 0,
          .judge = "auto",
          .layout = Layout::fixed,
          .runs = 2,
          .timeout_s = 30,
          .budget_s = 0,
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
  return {.verdict = Verdict::accepted,
          .reason = Reason::faster,
          .sentence = "1.03x faster.",
          .effect = 0.03,
          .lower = 0.01,
          .upper = std::numeric_limits<double>::infinity(),
          .confidence = 0.98,
          .rounds = 2,
          .processes = 12,
          .samples = 12,
          .seconds = 9.5,
          .search_effect = 0.04,
          .alpha = 0.01,
          .minimum_detectable = 0.012,
          .preset = "strict",
          .rule_version = "r"};
}

// Written as it is measured: the id.
std::int64_t keep_comparison(Journal& journal, CommandComparison& comparison) {
  comparison.id = journal.begin_command_comparison(comparison);
  for (const Round& round : comparison.rounds) {
    journal.add_command_round(comparison.id, round);
  }
  journal.finish_command_comparison(comparison);
  return comparison.id;
}

CommandComparison a_finished_comparison() {
  CommandComparison comparison = a_comparison(CommandPurpose::compare);
  comparison.rounds = {a_command_round(RoundStage::sentinel, 0, false), a_command_round(RoundStage::search, 0, true),
                       a_command_round(RoundStage::confirm, 0, false)};
  comparison.judgement = a_command_judgement();
  comparison.value_a = 1.25;
  comparison.value_b = 1.0 / 3;
  return comparison;
}

CommandComparison a_finished_gate() {
  CommandComparison gate = a_comparison(CommandPurpose::gate);
  gate.rounds = {a_command_round(RoundStage::gate, 0, true), a_command_round(RoundStage::gate, 1, true)};
  gate.judgement = a_command_judgement();
  gate.gate = GateVerdict::regressed;
  return gate;
}

using CommandRows = PreparedTest;

TEST_F(CommandRows, ComeBackAsTheyWereWritten) {
  CommandComparison comparison = a_finished_comparison();
  CommandComparison gate = a_finished_gate();
  keep_comparison(journal, comparison);
  keep_comparison(journal, gate);
  CommandComparison read = journal.load_command_comparison(comparison.id);
  EXPECT_NE(std::exchange(read.finished_at, ""), "");
  EXPECT_EQ(read, comparison);
  read = journal.load_command_comparison(gate.id);
  EXPECT_NE(std::exchange(read.finished_at, ""), "");
  gate.judgement->verdict = Judgement().verdict;  // a gate has its own
  gate.judgement->reason = Judgement().reason;
  gate.judgement->confidence = 0;
  EXPECT_EQ(read, gate);
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
  EXPECT_EQ(journal.check_integrity(), std::vector<std::string>());
}

TEST_F(CommandRows, OneThatWasInterruptedKeepsItsRoundsAndHasNoVerdict) {
  const std::int64_t id = journal.begin_command_comparison(a_comparison(CommandPurpose::compare));
  journal.add_command_round(id, a_command_round(RoundStage::search, 0, true));
  const CommandComparison read = journal.load_command_comparison(id);
  EXPECT_EQ(read.rounds.size(), 1U);
  EXPECT_FALSE(read.judgement);
  EXPECT_EQ(run_sql(scratch.path, "SELECT state FROM command_comparisons").rows.at(0).at(0),
            Cell(std::string("running")));
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
}

TEST_F(CommandRows, CannotBeChangedAndTakeNoRoundAfterTheVerdict) {
  CommandComparison comparison = a_finished_comparison();
  keep_comparison(journal, comparison);
  EXPECT_THROW(journal.add_command_round(comparison.id, a_command_round(RoundStage::search, 9, true)), std::exception);
  EXPECT_THROW(journal.finish_command_comparison(comparison), std::exception);
  for (const std::string table : {"command_comparison", "command_round", "command_verdict"}) {
    EXPECT_NE(attack(scratch.path, "DELETE FROM " + table), "") << table;
  }
  EXPECT_NE(attack(scratch.path, "UPDATE command_round SET value_a = 1"), "");
}

TEST_F(CommandRows, AMissingNumberIsAMistakeThatNamesTheList) {
  const std::string error = user_error([&] { journal.load_command_comparison(7); });
  EXPECT_NE(error.find("no comparison c7"), std::string::npos) << error;
  EXPECT_NE(error.find("apo query --commands"), std::string::npos) << error;
}

TEST_F(CommandRows, AreFoundByPredicates) {
  CommandComparison comparison = a_finished_comparison();
  CommandComparison gate = a_finished_gate();
  keep_comparison(journal, comparison);
  keep_comparison(journal, gate);
  const auto found = [&](const std::vector<std::string>& words) {
    return query_commands(journal, parse_query(words)).rows.size();
  };
  EXPECT_EQ(found({}), 2U);
  EXPECT_EQ(found({"verdict=accepted"}), 1U);
  EXPECT_EQ(found({"verdict!=accepted"}), 1U);
  EXPECT_EQ(found({"candidate~bench", "speedup>1.02"}), 2U);
  EXPECT_EQ(found({"since=2027-01-01"}), 0U);
  EXPECT_EQ(found({"limit=1"}), 1U);
  EXPECT_NE(user_error([&] { found({"technique=x"}); }).find("has no 'technique'"), std::string::npos);
  EXPECT_NE(user_error([&] { found({"sort=id"}); }).find("command_comparisons"), std::string::npos);
}

TEST_F(CommandRows, AVerdictThatDoesNotFollowIsFound) {
  CommandComparison comparison = a_finished_comparison();
  comparison.judgement->rounds = 3;  // two count
  keep_comparison(journal, comparison);
  const auto findings = journal.check_invariants();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(findings.front().find("a verdict on two commands has the rounds"), std::string::npos) << findings.front();
}

}  // namespace
}  // namespace apo
