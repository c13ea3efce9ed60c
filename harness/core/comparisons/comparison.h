// harness/core/comparisons/comparison.h - one judgement of two commands, or of two dispatches by an application, from
// what was asked to its verdict.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/applications/declared_application.h"
#include "harness/core/json/fields.h"
#include "harness/core/records/judgement.h"
#include "harness/core/words.h"

namespace apo {

enum class ComparisonKind : std::uint8_t {
  commands,     // judged by a number of each run
  application,  // dispatches, judged by a program that runs with them
};
APO_WORDS(ComparisonKind, comparison_kind_from, commands, application)

enum class ComparisonPurpose : std::uint8_t {
  compare,  // is B better than A?
  gate,     // is B worse than A by more than a margin?
};
APO_WORDS(ComparisonPurpose, comparison_purpose_from, compare, gate)

enum class Side : std::uint8_t { a, b };  // A is the incumbent and B the candidate
APO_WORDS(Side, side_from, a, b)

enum class FailedSide : std::uint8_t { a, b, both };
APO_WORDS(FailedSide, failed_side_from, a, b, both)

// What was asked of two commands.
struct CommandQuestion {
  std::string metric;  // as it was written: "gbench:NAME"
  bool higher_is_better = false;
  std::string correct;         // the command that checks runs; empty: nothing was checked
  std::string judge = "auto";  // a preset, or auto: by an A/A run of A
  Layout layout = Layout::random;
  int runs = 1;          // of each command in a round, of which the best counts
  double timeout_s = 0;  // of a run; 0: from how long A takes
  double budget_s = 0;   // of all rounds; 0: none
  bool operator==(const CommandQuestion&) const = default;
};
APO_FIELDS(CommandQuestion, metric, higher_is_better, correct, judge, layout, runs, timeout_s, budget_s)

enum class ComparisonView : std::uint8_t {
  rounds,       // of two commands
  fixed_steps,  // of an application: as many steps on both sides, after the warm-up
};
APO_WORDS(ComparisonView, comparison_view_from, rounds, fixed_steps)

// One fresh run of an application: what apo's clock and the lines of its steps gave; nothing where it is not valid.
struct ApplicationRun {
  ComparisonView view = ComparisonView::fixed_steps;
  int pair = 0;
  Side side = Side::a;
  std::int64_t seed = 0;
  Outcome outcome = Outcome::valid;
  std::string evidence;
  double start_up_s = 0;                 // until the line of its first step
  int steps = 0;                         // that count
  double seconds = 0;                    // that they took
  double wall_s = 0;                     // of the whole run
  std::map<std::string, double> values;  // of each metric
};
APO_FIELDS(ApplicationRun, view, pair, side, seed, outcome, evidence, start_up_s, steps, seconds, wall_s, values)

enum class FigureKind : std::uint8_t { speed, start_up, quality };
APO_WORDS(FigureKind, figure_kind_from, speed, start_up, quality)

enum class QualityFinding : std::uint8_t {
  equivalent,  // both one-sided tests: no further off than the margin
  better,      // by more than the margin
  worse,       // by more than the margin
  inconclusive,
};
APO_WORDS(QualityFinding, quality_finding_from, equivalent, better, worse, inconclusive)

// A number of A and of B, and how B differs: a speed by how many times it is as fast, a quality by B less A.
// Of a benchmark of a suite also its finding.
struct Figure {
  ComparisonView view = ComparisonView::fixed_steps;
  FigureKind kind = FigureKind::speed;
  std::string metric;
  std::string unit;    // "s": a time; of a benchmark that was left out, with a count of 0 and no finding: why
  double value_a = 0;  // medians over rounds or pairs, means over seeds
  double value_b = 0;
  double change = 0;  // of a start-up it is not computed: NaN, as its bounds
  double lower = 0;
  double upper = 0;
  double confidence = 0;
  int count = 0;      // rounds, pairs or seeds
  double margin = 0;  // of a quality, in its unit; of a benchmark the slowdown that would have shown in 95 of 100 cases
  int needed = 0;     // seeds to be conclusive, where a quality is not; 0: no number is known
  std::optional<QualityFinding> finding;
};
APO_FIELDS(Figure, view, kind, metric, unit, value_a, value_b, change, lower, upper, confidence, count, margin, needed,
           finding)

struct ProgramComparison {
  std::int64_t id = 0;
  ComparisonKind kind = ComparisonKind::commands;
  ComparisonPurpose purpose = ComparisonPurpose::compare;
  std::int64_t campaign = 0;  // that it ended; 0: it was asked for alone
  std::string a;              // the command as the shell gets it, or the dispatch as it was named
  std::string b;
  std::string folder;               // both run in
  double margin = 0;                // of a gate: log effect; 0: of a suite of which any slowdown counts
  double alpha = 0.01;              // of a gate: that it is red though nothing changed
  CommandQuestion commands;         // of that kind
  DeclaredApplication application;  // of the other
  std::string machine;              // Machine::id
  std::string started_at;
  std::string finished_at;

  std::vector<Round> rounds;           // of two commands, those of the sentinel first
  std::vector<ApplicationRun> runs;    // of an application, as they ran
  Outcome outcome = Outcome::valid;    // of the first run that failed
  std::optional<FailedSide> failed;    // of an application
  std::optional<Judgement> judgement;  // absent while under way; of a gate without verdict and reason
  std::optional<GateVerdict> gate;     // of a gate, with the judgement
  std::vector<Figure> figures;         // the first is the speed that decides
};

// All benchmarks of the metric are judged, with one error budget.
bool is_suite(const ProgramComparison& comparison);
// A command against itself: what differs is the noise of the machine.
bool is_same(const ProgramComparison& comparison);
bool is_left_out(const Figure& figure);  // of a suite

// "accepted", "regressed"; empty while there is none.
std::string verdict_word(const ProgramComparison& comparison);
// "faster"; empty for a gate and while there is none.
std::string reason_word(const ProgramComparison& comparison);
// "accepted (faster)", "regressed", "none: it was interrupted, or is under way".
std::string verdict_text(const ProgramComparison& comparison);

// "slower", "faster", "not slower", "cannot be resolved": of a benchmark of a suite.
std::string_view benchmark_word(QualityFinding finding);
// "a slowdown of 2.1 % would have shown in 95 of 100 cases": of a benchmark that was timed.
std::string power_text(const Figure& figure);

// The figure as a sentence says it: "step 12 ms -> 11 ms, 1.03x [1.02x, 1.04x] as fast, 98 % interval, 14 pairs", or
// "loss 2.1 -> 2.2, change +0.0003 [-0.001, +0.002], equivalent with margin 0.01, 5 seeds".
std::string figure_text(const Figure& figure);
// What checked the correctness of two commands; empty of an application.
std::string note_text(const ProgramComparison& comparison);

// Tables for people. The last two have a row of titles and, where there are any, one for each figure, round or run.
using TextRows = std::vector<std::vector<std::string>>;
TextRows asked_rows(const ProgramComparison& comparison);
TextRows figure_rows(const ProgramComparison& comparison);
TextRows run_rows(const ProgramComparison& comparison);

}  // namespace apo
