// harness/cli/comparison_text.cpp - the tables of a comparison as aligned text.
#include "harness/cli/comparison_text.h"

#include <fmt/format.h>

#include "harness/cli/console.h"
#include "harness/core/text.h"
#include "harness/evaluate/programs/suite.h"

namespace apo {
namespace {

std::string painted_verdict(const ProgramComparison& comparison) {
  const std::string word = verdict_word(comparison);
  const bool good = word == "accepted" || word == "passed";
  const bool open = word == "inconclusive" || word == "undecided";
  return paint(verdict_text(comparison), good ? "green" : open ? "yellow" : "red");
}

// Without a row but that of the titles: nothing.
std::string table_text(const TextRows& rows) {
  return rows.size() > 1 ? format_table(rows) : "";
}

}  // namespace

std::string comparison_text(const ProgramComparison& comparison) {
  const std::string note = note_text(comparison);
  const char* whose = comparison.kind == ComparisonKind::application ? "application verdict" : "verdict";
  return comparison.judgement->sentence + "\n" + table_text(figure_rows(comparison)) +
         (note.empty() ? "" : note + "\n") +
         fmt::format("{}: {}{}\n", whose, painted_verdict(comparison),
                     comparison.id == 0 ? "" : fmt::format("; 'apo show c{}' has every run", comparison.id));
}

std::string suite_text(const ProgramComparison& comparison) {
  ProgramComparison shown = comparison;
  std::erase_if(shown.figures, [](const Figure& figure) {
    return figure.finding == QualityFinding::equivalent || is_left_out(figure);
  });
  const std::string noise = is_same(comparison) ? noise_text(comparison) : "";
  return comparison_text(shown) + (noise.empty() ? "" : noise + "\n");
}

std::string comparison_in_full(const ProgramComparison& comparison) {
  std::string text = paint(fmt::format("comparison c{}", comparison.id), "bold") +
                     (comparison.kind == ComparisonKind::commands ? " of two commands\n" : " of two dispatches\n") +
                     format_table(asked_rows(comparison));
  if (comparison.judgement) {
    text += "\n" + paint("judgement", "bold") + "\n" + comparison_text(comparison);
  }
  const std::string runs = table_text(run_rows(comparison));
  return text + (runs.empty() ? "" : "\n" + paint("runs", "bold") + ", fresh processes in order\n" + runs);
}

std::optional<std::int64_t> comparison_number(const std::string& word) {
  const bool digits =
      word.size() > 1 && word.front() == 'c' && word.find_first_not_of("0123456789", 1) == std::string::npos;
  return digits ? parse_int(word.substr(1)) : std::nullopt;
}

}  // namespace apo
