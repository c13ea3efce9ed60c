// reports/sections/comparisons_section.cpp - judgements of two commands, or of two dispatches by an application: a
// table, and each with its figures and runs.
#include <fmt/format.h>

#include <functional>

#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

std::string name_of(const ProgramComparison& comparison) {
  return fmt::format("c{}", comparison.id);
}

// A verdict of the judge has its colour; the words of a gate stand plain.
Line verdict_line(const ProgramComparison& comparison) {
  if (!comparison.judgement || comparison.gate) {
    return {strong(verdict_text(comparison))};
  }
  return {verdict_word(comparison.judgement->verdict), " (" + reason_word(comparison) + ")"};
}

Table table_of(const TextRows& rows) {
  Table table{rows.front(), {}};
  for (std::size_t row = 1; row < rows.size(); ++row) {
    std::vector<Line>& cells = table.rows.emplace_back();
    for (const std::string& cell : rows[row]) {
      cells.push_back(cell);
    }
  }
  return table;
}

void write_overview(const std::vector<ProgramComparison>& comparisons, Writer& writer) {
  Table table{{"", "A", "B", "by", "A -> B", "verdict"}, {}};
  for (const ProgramComparison& one : comparisons) {
    const bool commands = one.kind == ComparisonKind::commands;
    table.rows.push_back({name_of(one),
                          {code(one.a)},
                          {code(one.b)},
                          commands ? code(one.commands.metric) : Span("an application"),
                          one.figures.empty() ? kNotMeasuredText : figure_text(one.figures.front()),
                          verdict_line(one)});
  }
  writer.table(table);
}

// Rows of the table of the figures, in their order.
Table table_of_figures(const ProgramComparison& comparison, const std::function<bool(const Figure&)>& is_wanted) {
  ProgramComparison some = comparison;
  std::erase_if(some.figures, [&](const Figure& figure) { return !is_wanted(figure); });
  return table_of(figure_rows(some));
}

void write_figures(const ProgramComparison& comparison, Writer& writer) {
  const auto is_shown = [&](const Figure& figure) {
    return !is_suite(comparison) || figure.finding != QualityFinding::equivalent;
  };
  if (const Table shown = table_of_figures(comparison, is_shown); !shown.rows.empty()) {
    writer.table(shown);
  }
  const Table rest = table_of_figures(comparison, [&](const Figure& figure) { return !is_shown(figure); });
  if (!rest.rows.empty()) {
    write_folded("Benchmarks without a change", rest, writer);
  }
}

void write_one(const ProgramComparison& comparison, Writer& writer) {
  writer.heading(3, name_of(comparison) + ", " + comparison.started_at);
  std::vector<Line> asked;
  for (const std::vector<std::string>& row : asked_rows(comparison)) {
    asked.push_back({row[0] + ": ", code(row[1])});
  }
  writer.list(asked);
  Line line = verdict_line(comparison);
  if (comparison.judgement) {
    line.push_back(": " + comparison.judgement->sentence);
  }
  writer.paragraph(line);
  write_figures(comparison, writer);
  static_cast<void>(writer.plot(name_of(comparison)));  // of a suite, where the format has plots in it
  if (const std::string note = note_text(comparison); !note.empty() && comparison.judgement) {
    writer.paragraph(note);
  }
  if (const Table runs = table_of(run_rows(comparison)); !runs.rows.empty()) {
    write_folded("Runs: fresh processes, in order", runs, writer);
  }
}

}  // namespace

void write_suite_summary(const ProgramComparison& comparison, Writer& writer) {
  writer.lead({strong("apo gate: " + verdict_word(comparison)), ": " + comparison.judgement->sentence});
  write_figures(comparison, writer);
  writer.paragraph(
      fmt::format("B against A: speed, less than 1x is slower. The intervals hold for all benchmarks at "
                  "once; the suite is red by chance with a probability of {:g} at most.",
                  comparison.alpha));
}

void write_comparisons(const std::vector<ProgramComparison>& comparisons, Writer& writer) {
  writer.paragraph(
      "Judged by fresh runs of both, in drawn order. Nothing is known of the correctness of commands but what the "
      "named check says; the quality of an application is paired by seed, and its interval is that of two "
      "one-sided tests.");
  write_overview(comparisons, writer);
  for (const ProgramComparison& comparison : comparisons) {
    write_one(comparison, writer);
  }
}

}  // namespace apo::report
