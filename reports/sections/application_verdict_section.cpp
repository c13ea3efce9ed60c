// reports/sections/application_verdict_section.cpp - what whole applications made of the incumbent: speed, quality, and
// what the kernel let expect.
#include <fmt/format.h>

#include <cmath>

#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

std::string title_of(const ApplicationComparison& comparison) {
  return fmt::format("Application comparison {}, {}", comparison.id, comparison.started_at);
}

Line verdict_of(const ApplicationComparison& comparison) {
  if (!comparison.verdict) {
    return {strong("no verdict"), plain(": it was interrupted, or is under way.")};
  }
  return {verdict_word(*comparison.verdict),
          plain(fmt::format(" ({}): {}", to_string(comparison.reason), comparison.sentence))};
}

void write_metrics(const ApplicationComparison& comparison, Writer& writer) {
  Table table{{"view", "metric", "A", "B", "B against A", "finding", "of"}, {}};
  const ApplicationMetric& metric = comparison.application.speed();
  for (const SpeedEffect& speed : comparison.speeds) {
    const std::string view = replace_all(std::string(to_string(speed.view)), "_", " ");
    table.rows.push_back({{plain(view)},
                          {plain(metric.name)},
                          {plain(metric_text(metric, speed.value_a))},
                          {plain(metric_text(metric, speed.value_b))},
                          {plain(effect_text(speed.effect, speed.lower, speed.upper))},
                          {plain("")},
                          {plain(counted(static_cast<std::size_t>(speed.pairs), "pair"))}});
    table.rows.push_back({{plain(view)},
                          {plain("start-up")},
                          {plain(format_seconds(speed.start_up_a_s))},
                          {plain(format_seconds(speed.start_up_b_s))},
                          {plain("")},
                          {plain("")},
                          {plain(counted(static_cast<std::size_t>(speed.pairs), "pair"))}});
  }
  for (const QualityChange& quality : comparison.qualities) {
    table.rows.push_back(
        {{plain(replace_all(std::string(to_string(quality.view)), "_", " "))},
         {plain(quality.metric)},
         {plain(format_g(quality.value_a, 6))},
         {plain(format_g(quality.value_b, 6))},
         {plain(fmt::format("{} [{}, {}]", format_g(quality.change, 3), format_g(quality.lower, 3),
                            format_g(quality.upper, 3)))},
         {plain(fmt::format("{}, margin {}", to_string(quality.finding), format_g(quality.margin, 3)))},
         {plain(counted(static_cast<std::size_t>(quality.seeds), "seed"))}});
  }
  if (!table.rows.empty()) {
    writer.table(table);
  }
}

void write_runs(const ApplicationComparison& comparison, Writer& writer) {
  Table table{{"view", "pair", "side", "seed", "start-up", "steps", "time", "outcome"}, {}};
  for (const ApplicationRun& run : comparison.runs) {
    table.rows.push_back(
        {{plain(replace_all(std::string(to_string(run.view)), "_", " "))},
         {plain(std::to_string(run.pair))},
         {plain(run.of_b ? "B" : "A")},
         {plain(std::to_string(run.seed))},
         {plain(time_text(1e9 * run.start_up_s))},
         {plain(std::to_string(run.steps))},
         {plain(time_text(1e9 * run.seconds))},
         {plain(std::string(to_string(run.outcome)) + (run.evidence.empty() ? "" : ": " + run.evidence))}});
  }
  if (!table.rows.empty()) {
    write_folded({plain("Runs: fresh processes, in order")}, table, writer);
  }
}

void write_one(const ApplicationComparison& comparison, Writer& writer) {
  writer.heading(3, {plain(title_of(comparison))});
  writer.list({{plain("A: "), code(comparison.dispatch[0])}, {plain("B: "), code(comparison.dispatch[1])}});
  writer.paragraph(verdict_of(comparison));
  write_metrics(comparison, writer);
  if (comparison.expectation) {
    writer.paragraph({plain("Kernel and step: " + expectation_text(*comparison.expectation) + ".")});
  }
  write_runs(comparison, writer);
}

}  // namespace

void write_application_comparisons(const ReportModel& model, Writer& writer) {
  if (model.application_comparisons.empty()) {
    return;
  }
  writer.heading(2, {plain("Application")});
  writer.paragraph({plain(
      "Pairs of fresh runs of a program with two dispatches. The speed is by apo's clock; the quality is paired by "
      "seed, and its interval is that of two one-sided tests.")});
  for (const ApplicationComparison& comparison : model.application_comparisons) {
    write_one(comparison, writer);
  }
}

}  // namespace apo::report
