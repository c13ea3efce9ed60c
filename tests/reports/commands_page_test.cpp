// tests/reports/commands_page_test.cpp - the page about pairs of commands, against approved files. APO_APPROVE=1 writes
// it.
#include <gtest/gtest.h>

#include <cmath>

#include "reports/render.h"
#include "tests/reports/fixture.h"
#include "tests/text.h"

namespace apo::report {
namespace {

Round a_round(RoundStage stage, int index, double a, double b) {
  Round round{.stage = stage, .index = index, .seed = 11, .candidate_in_slot0 = index % 2 == 1, .seconds = 1.25};
  const bool x = round.candidate_in_slot0;
  round.commands = CommandRuns{.runs = {{x, x ? b : a}, {!x, x ? a : b}}, .higher_is_better = false};
  round.effect = std::log(a / b);
  return round;
}

std::vector<ProgramComparison> comparisons() {
  ProgramComparison accepted{.id = 1,
                             .a = "./old/bench | tee <log>",
                             .b = "./new/bench",
                             .folder = "/work/place",
                             .commands = {.metric = "seconds", .correct = "./check.sh"},
                             .machine = "cpu-1",
                             .started_at = "2026-01-02T03:04:05Z",
                             .finished_at = "2026-01-02T03:05:05Z"};
  accepted.rounds = {a_round(RoundStage::sentinel, 0, 1.5, 1.5), a_round(RoundStage::search, 0, 1.5, 1.45),
                     a_round(RoundStage::confirm, 1, 1.52, 1.44)};
  accepted.rounds.push_back(a_round(RoundStage::confirm, 2, 9, 1.4));
  accepted.rounds.back().void_why = "it took 60 s, the median round 1.2 s";
  accepted.judgement = Judgement{.verdict = Verdict::accepted,
                                 .reason = Reason::faster,
                                 .sentence = "1.04x faster, 98 % interval [1.03x, 1.05x] over 14 fresh runs of each.",
                                 .effect = 0.04,
                                 .lower = 0.03,
                                 .upper = 0.05,
                                 .rounds = 14,
                                 .processes = 84,
                                 .seconds = 60,
                                 .preset = "strict",
                                 .rule_version = "apo-judge-2"};
  accepted.figures = {{.view = ComparisonView::rounds,
                       .metric = "seconds",
                       .unit = "s",
                       .value_a = 1.5,
                       .value_b = 1.45,
                       .change = 1.04,
                       .lower = 1.03,
                       .upper = 1.05,
                       .confidence = 0.98,
                       .count = 14}};
  ProgramComparison gate{.id = 2,
                         .purpose = ComparisonPurpose::gate,
                         .a = "./old/bench",
                         .b = "./new/bench",
                         .folder = "/work/place",
                         .margin = std::log1p(0.02),
                         .commands = {.metric = "regex:(.*) items/s", .higher_is_better = true},
                         .machine = "cpu-1",
                         .started_at = "2026-01-03T03:04:05Z"};
  gate.outcome = Outcome::faulted;
  gate.judgement = Judgement{.sentence = "Not timed: command B gave no result: faulted, it exited with 3.",
                             .seconds = 2,
                             .rule_version = "apo-judge-2"};
  gate.gate = GateVerdict::failed;
  const ProgramComparison open{.id = 3,
                               .a = "a",
                               .b = "b",
                               .folder = "/",
                               .commands = {.metric = "gbench:copy/8"},
                               .machine = "cpu-1",
                               .started_at = "2026-01-04T03:04:05Z"};
  return {accepted, gate, open};
}

TEST(CommandsPage, IsAsApprovedInItsFormats) {
  fixture::expect_approved("commands/commands.md", render_commands(comparisons(), Format::markdown));
  fixture::expect_approved("commands/commands.html", render_commands(comparisons(), Format::html));
  fixture::expect_approved("commands/commands.json.txt",
                           fixture::lines_by_path(render_commands(comparisons(), Format::json)));
}

ProgramComparison a_suite() {
  const auto benchmark = [](const char* name, double change, QualityFinding finding) -> Figure {
    return {.view = ComparisonView::rounds,
            .metric = name,
            .unit = "s",
            .value_a = 1,
            .value_b = 1 / change,
            .change = change,
            .lower = change - 0.01,
            .upper = change + 0.01,
            .count = 14,
            .margin = 0.021,
            .finding = finding};
  };
  ProgramComparison suite = comparisons()[1];
  suite.commands.metric = "gbench";
  suite.margin = 0;
  suite.outcome = Outcome::valid;
  suite.gate = GateVerdict::regressed;
  suite.judgement->sentence = "1 slower; 2 not slower";
  suite.figures = {benchmark("geometric mean of 3 benchmarks", 0.99, QualityFinding::equivalent),
                   benchmark("copy<|>/8", 0.95, QualityFinding::worse),
                   benchmark("fill", 1, QualityFinding::equivalent),
                   benchmark("noisy", 1, QualityFinding::inconclusive)};
  suite.figures.front().finding.reset();
  suite.figures.push_back({.view = ComparisonView::rounds, .metric = "gone", .unit = "only A has it", .value_a = 1});
  return suite;
}

TEST(CommandsPage, ASuiteShowsWhatChangedAndFoldsTheRest) {
  const std::string summary = render_suite_summary(a_suite());
  const std::size_t fold = summary.find("<details>");
  ASSERT_NE(fold, std::string::npos) << summary;
  for (const char* shown :
       {"**apo gate: regressed**", "slower; a slowdown of 2.1 % would have shown in 95 of 100 cases",
        "cannot be resolved", "left out: only A has it", "geometric mean"}) {
    EXPECT_LT(summary.find(shown), fold) << shown << "\n" << summary;
  }
  EXPECT_GT(summary.find("not slower;"), fold) << summary;
  expect_contains(summary, "by chance with a probability of 0.01 at most");
  expect_contains(render_commands({a_suite()}, Format::html), "Effect on each benchmark");
}

TEST(CommandsPage, WithoutComparisonsSaysSo) {
  expect_contains(render_commands({}, Format::markdown), "no two commands were compared");
}

TEST(CommandsPage, TheReportOfACampaignNamesThoseOfItsMachine) {
  CampaignRecords records = fixture::realistic_campaign();
  EXPECT_EQ(render_markdown(build_model(records), {}).find("## Comparisons"), std::string::npos);
  records.comparisons = comparisons();
  const std::string text = render_markdown(build_model(records), {});
  expect_contains(text, "## Comparisons");
  expect_contains(text, "./new/bench");
}

}  // namespace
}  // namespace apo::report
