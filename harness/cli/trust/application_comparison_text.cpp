// harness/cli/trust/application_comparison_text.cpp - speed and quality side by side, then expectation and verdict.
#include "harness/cli/trust/application_comparison_text.h"

#include <fmt/format.h>

#include "harness/cli/console.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string view_words(ApplicationView view, const DeclaredApplication& application) {
  return view == ApplicationView::fixed_steps
             ? fmt::format("{} steps after {} of warm-up", application.steps, application.warmup_steps)
             : "within " + format_seconds(application.fixed_time_s) + ", start-up included";
}

std::string verdict_line(const ApplicationComparison& comparison) {
  const char* colour = *comparison.verdict == Verdict::accepted   ? "green"
                       : *comparison.verdict == Verdict::reverted ? "red"
                                                                  : "yellow";
  return fmt::format("application verdict: {} ({}); comparison {} of view application_comparisons\n",
                     paint(std::string(to_string(*comparison.verdict)), colour), to_string(comparison.reason),
                     comparison.id);
}

}  // namespace

std::string application_comparison_text(const ApplicationComparison& comparison) {
  // Of one that was measured the sentence says what the lines say.
  std::string text = failed_arms(comparison).empty() ? "" : comparison.sentence + "\n";
  for (const SpeedEffect& speed : comparison.speeds) {
    text += fmt::format("{}: {}; start-up {} -> {}\n", view_words(speed.view, comparison.application),
                        speed_text(comparison, speed), format_seconds(speed.start_up_a_s),
                        format_seconds(speed.start_up_b_s));
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

}  // namespace apo
