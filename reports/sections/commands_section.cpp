// reports/sections/commands_section.cpp - judgements of two commands: a table, and each with its rounds.
#include <fmt/format.h>

#include <cmath>

#include "harness/core/commands/command_metric.h"
#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

std::string name_of(const CommandComparison& comparison) {
  return fmt::format("c{}", comparison.id);
}

// A verdict of the judge has its colour; the words of a gate stand plain.
Line verdict_line(const CommandComparison& comparison) {
  if (!comparison.judgement) {
    return {plain("none: interrupted, or under way")};
  }
  Line line = {comparison.gate ? strong(verdict_word(comparison)) : verdict_word(comparison.judgement->verdict)};
  const std::string reason = reason_word(comparison);
  line.push_back(plain(comparison.gate ? fmt::format(" (gate, margin {})", percent_text(std::expm1(comparison.margin)))
                                       : " (" + reason + ")"));
  return line;
}

std::string change_text(const CommandComparison& comparison) {
  if (!comparison.judgement || comparison.judgement->rounds == 0) {
    return kNotMeasuredText;
  }
  const Judgement& one = *comparison.judgement;
  return fmt::format("{} n={}", effect_text(one.effect, one.lower, one.upper), one.rounds);
}

std::string values_text(const CommandComparison& comparison) {
  if (!(comparison.value_a > 0 && comparison.value_b > 0)) {
    return kNotMeasuredText;
  }
  const CommandMetric metric = parse_metric(comparison.metric);
  return metric_value_text(metric, comparison.value_a) + " -> " + metric_value_text(metric, comparison.value_b);
}

void write_rounds(const CommandComparison& comparison, Writer& writer) {
  const CommandMetric metric = parse_metric(comparison.metric);
  Table table{{"stage", "round", "order", "A", "B", "effect", "time", "void"}, {}};
  for (const Round& round : comparison.rounds) {
    const bool same = round.stage == RoundStage::sentinel;
    table.rows.push_back({{plain(std::string(to_string(round.stage)))},
                          {plain(std::to_string(round.index))},
                          {plain(same                       ? "A, A"
                                 : round.candidate_in_slot0 ? "B first"
                                                            : "A first")},
                          {plain(metric_value_text(metric, round.commands->best(false)))},
                          {plain(metric_value_text(metric, round.commands->best(true)))},
                          {plain(round.void_why.empty() ? format_percent(round.effect, 3) : "-")},
                          {plain(format_seconds(round.seconds))},
                          {plain(round.void_why)}});
  }
  if (!table.rows.empty()) {
    write_folded({plain("Rounds: fresh runs of each, the best of which counts")}, table, writer);
  }
}

}  // namespace

void write_command_table(const std::vector<CommandComparison>& comparisons, Writer& writer) {
  Table table{{"", "A", "B", "metric", "A -> B", "B over A", "verdict", "correctness checked by"}, {}};
  for (const CommandComparison& one : comparisons) {
    table.rows.push_back({{plain(name_of(one))},
                          {code(one.command_a)},
                          {code(one.command_b)},
                          {code(one.metric)},
                          {plain(values_text(one))},
                          {plain(change_text(one))},
                          verdict_line(one),
                          {one.correct.empty() ? plain("nothing") : code(one.correct)}});
  }
  writer.table(table);
}

void write_command_comparison(const CommandComparison& comparison, Writer& writer) {
  writer.heading(3, {plain(name_of(comparison) + ", " + comparison.started_at)});
  writer.list({{plain("A: "), code(comparison.command_a)},
               {plain("B: "), code(comparison.command_b)},
               {plain("in "), code(comparison.folder), plain(" on " + comparison.machine)}});
  if (comparison.judgement) {
    const Judgement& judgement = *comparison.judgement;
    Line line = verdict_line(comparison);
    line.push_back(plain(": " + judgement.sentence + (judgement.sentence.ends_with('.') ? " " : ". ") +
                         correctness_text(comparison)));
    writer.paragraph(line);
    writer.paragraph({plain(fmt::format("Judge: {}, rule {}; {} processes, {}.",
                                        judgement.preset.empty() ? "none" : judgement.preset, judgement.rule_version,
                                        judgement.processes, format_seconds(judgement.seconds)))});
  } else {
    writer.paragraph(verdict_line(comparison));
  }
  write_rounds(comparison, writer);
}

void write_commands(const ReportModel& model, Writer& writer) {
  if (model.commands.empty()) {
    return;
  }
  writer.heading(2, {plain("Commands")});
  writer.paragraph(
      {plain("Pairs of commands that were judged on this machine. 'apo report --commands' has their rounds.")});
  write_command_table(model.commands, writer);
}

}  // namespace apo::report
