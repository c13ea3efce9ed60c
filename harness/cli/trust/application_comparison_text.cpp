// harness/cli/trust/application_comparison_text.cpp - speed and quality side by side, then expectation and verdict.
#include "harness/cli/trust/application_comparison_text.h"

#include <fmt/format.h>

#include "harness/cli/console.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string view_words(ApplicationView view, const ApplicationComparison& comparison) {
  const DeclaredApplication& application = comparison.application;
  return view == ApplicationView::fixed_steps
             ? fmt::format("{} steps after {} of warm-up", comparison.runs.front().steps, application.warmup_steps)
             : "within " + format_seconds(application.fixed_time_s) + ", start-up included";
}

std::string verdict_line(const ApplicationComparison& comparison) {
  const char* colour = *comparison.verdict == Verdict::accepted   ? "green"
                       : *comparison.verdict == Verdict::reverted ? "red"
                                                                  : "yellow";
  return fmt::format("application verdict: {} ({}); 'apo show a{}' has every run\n",
                     paint(std::string(to_string(*comparison.verdict)), colour), to_string(comparison.reason),
                     comparison.id);
}

std::string campaign_words(std::int64_t campaign) {
  return campaign == 0 ? "none: asked for alone" : fmt::format("{}, which it ended", campaign);
}

std::string asked_text(const ApplicationComparison& comparison) {
  const DeclaredApplication& application = comparison.application;
  return format_table({{"  A", comparison.dispatch[0]},
                       {"  B", comparison.dispatch[1]},
                       {"  application", join(application.command, " ")},
                       {"  folder", comparison.folder},
                       {"  campaign", campaign_words(comparison.campaign)},
                       {"  machine", comparison.machine},
                       {"  started", comparison.started_at},
                       {"  finished", comparison.verdict ? comparison.finished_at : "not yet, or interrupted"}});
}

std::string values_text(const ApplicationRun& run) {
  std::vector<std::string> values;
  for (const auto& [metric, value] : run.values) {
    values.push_back(metric + " " + format_g(value, 6));
  }
  return join(values, ", ");
}

std::string runs_text(const ApplicationComparison& comparison) {
  std::vector<std::vector<std::string>> rows = {
      {"view", "pair", "side", "seed", "start-up", "steps", "time", "metrics", "outcome"}};
  for (const ApplicationRun& run : comparison.runs) {
    rows.push_back({replace_all(std::string(to_string(run.view)), "_", " "), std::to_string(run.pair),
                    run.of_b ? "B" : "A", std::to_string(run.seed), format_seconds(run.start_up_s),
                    std::to_string(run.steps), format_seconds(run.seconds), values_text(run),
                    std::string(to_string(run.outcome)) + (run.evidence.empty() ? "" : ": " + run.evidence)});
  }
  return rows.size() > 1 ? "\n" + paint("runs", "bold") + ", fresh processes in order\n" + format_table(rows) : "";
}

}  // namespace

std::string application_comparison_text(const ApplicationComparison& comparison) {
  // Of one that was measured the sentence says what the lines say.
  std::string text = failed_arms(comparison).empty() ? "" : comparison.sentence + "\n";
  for (const SpeedEffect& speed : comparison.speeds) {
    text +=
        fmt::format("{}: {}; start-up {} -> {}\n", view_words(speed.view, comparison), speed_text(comparison, speed),
                    format_seconds(speed.start_up_a_s), format_seconds(speed.start_up_b_s));
    for (const QualityChange& quality : comparison.qualities) {
      if (quality.view == speed.view) {
        text += "  " + quality_text(quality) + "\n";
      }
    }
  }
  if (comparison.expectation) {
    text += expectation_text(*comparison.expectation) + "\n";
  }
  return text + verdict_line(comparison);
}

std::string application_comparison_in_full(const ApplicationComparison& comparison) {
  std::string text =
      paint(fmt::format("comparison a{}", comparison.id), "bold") + " of two dispatches\n" + asked_text(comparison);
  if (comparison.verdict) {
    text += "\n" + paint("judgement", "bold") + "\n" + application_comparison_text(comparison);
  }
  return text + runs_text(comparison);
}

std::optional<std::int64_t> application_number(const std::string& word) {
  const bool digits =
      word.size() > 1 && word.front() == 'a' && word.find_first_not_of("0123456789", 1) == std::string::npos;
  return digits ? parse_int(word.substr(1)) : std::nullopt;
}

}  // namespace apo
