// harness/core/comparisons/comparison.cpp - the words, sentences and tables of a comparison.
#include "harness/core/comparisons/comparison.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/core/comparisons/command_metric.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"

namespace apo {
namespace {

std::string ratio_text(double ratio, double lower, double upper) {
  return format_interval(ratio, lower, upper).all();
}

std::string signed_number(double value) {
  return (value < 0 ? "" : "+") + format_g(value, 3);
}

std::string change_text(const Figure& figure) {
  return fmt::format("{} [{}, {}]", signed_number(figure.change), signed_number(figure.lower),
                     signed_number(figure.upper));
}

std::string value_text(const Figure& figure, double value) {
  constexpr int kDigitsOfQuality = 6;
  if (figure.kind == FigureKind::quality) {
    return format_g(value, kDigitsOfQuality);
  }
  if (is_left_out(figure)) {
    return value == 0 ? "-" : format_g(value, 5);
  }
  return figure.unit == "s" ? format_ns(1e9 * value)
                            : format_g(value, 5) + (figure.unit.empty() ? "" : " " + figure.unit);
}

std::string needed_text(const Figure& quality) {
  if (quality.finding != QualityFinding::inconclusive) {
    return "";
  }
  return quality.needed > 0 ? fmt::format("; about {} seeds would decide", quality.needed)
                            : "; the change is as large as the margin, and no number of seeds is known to decide";
}

std::string words_of(ComparisonView view) {
  return replace_all(std::string(to_string(view)), "_", " ");
}

std::string difference_text(const Figure& figure) {
  return figure.kind == FigureKind::speed && figure.count > 0 ? ratio_text(figure.change, figure.lower, figure.upper)
         : figure.kind == FigureKind::quality                 ? change_text(figure)
                                                              : "";
}

std::string finding_text(const Figure& figure) {
  if (!figure.finding) {
    return is_left_out(figure) ? "left out: " + figure.unit : "";
  }
  if (figure.kind == FigureKind::speed) {
    return std::string(benchmark_word(*figure.finding)) + "; " + power_text(figure);
  }
  return fmt::format("{}, margin {}", to_string(*figure.finding), format_g(figure.margin, 3));
}

std::string count_text(const Figure& figure) {
  const char* noun = figure.kind == FigureKind::quality      ? "seed"
                     : figure.view == ComparisonView::rounds ? "round"
                                                             : "pair";
  return fmt::format("{} {}{}", figure.count, noun, figure.count == 1 ? "" : "s");
}

std::string seconds_text(double seconds) {
  return seconds > 0 ? format_seconds(seconds) : "-";
}

std::string metric_words(const CommandQuestion& question) {
  return question.metric + (question.higher_is_better ? ", higher is better" : ", lower is better") +
         (question.runs > 1 ? fmt::format(", the best of {} runs a round", question.runs) : "");
}

TextRows round_rows(const ProgramComparison& comparison) {
  const bool time = parse_metric(comparison.commands.metric).is_time();
  TextRows rows = {{"stage", "round", "runs, in order", "effect", "time", "seed", "void"}};
  for (const Round& round : comparison.rounds) {
    const bool same = round.stage == RoundStage::sentinel;
    std::vector<std::string> runs;
    for (const CommandRun& run : round.commands->runs) {
      runs.push_back((run.candidate && !same ? "B " : "A ") + (!run.values.empty()
                                                                   ? fmt::format("{} benchmarks", run.values.size())
                                                               : time ? format_ns(1e9 * run.value)
                                                                      : format_g(run.value, 5)));
    }
    rows.push_back({std::string(to_string(round.stage)), std::to_string(round.index), join(runs, ", "),
                    round.void_why.empty() ? format_percent(round.effect, 3) : "-", format_seconds(round.seconds),
                    std::to_string(round.seed), round.void_why});
  }
  return rows;
}

}  // namespace

bool is_suite(const ProgramComparison& comparison) {
  return comparison.kind == ComparisonKind::commands && comparison.purpose == ComparisonPurpose::gate &&
         parse_metric(comparison.commands.metric).is_suite();
}

bool is_same(const ProgramComparison& comparison) {
  return comparison.kind == ComparisonKind::commands && comparison.a == comparison.b;
}

bool is_left_out(const Figure& figure) {
  return figure.view == ComparisonView::rounds && figure.count == 0 && !figure.finding;
}

std::string verdict_word(const ProgramComparison& comparison) {
  if (!comparison.judgement) {
    return "";
  }
  return std::string(comparison.gate ? to_string(*comparison.gate) : to_string(comparison.judgement->verdict));
}

std::string reason_word(const ProgramComparison& comparison) {
  return comparison.judgement && !comparison.gate ? std::string(to_string(comparison.judgement->reason)) : "";
}

std::string verdict_text(const ProgramComparison& comparison) {
  if (!comparison.judgement) {
    return "none: it was interrupted, or is under way";
  }
  const std::string reason = reason_word(comparison);
  return verdict_word(comparison) + (reason.empty() ? "" : " (" + reason + ")");
}

std::string_view benchmark_word(QualityFinding finding) {
  return finding == QualityFinding::worse        ? "slower"
         : finding == QualityFinding::better     ? "faster"
         : finding == QualityFinding::equivalent ? "not slower"
                                                 : "cannot be resolved";
}

std::string power_text(const Figure& figure) {
  return std::isfinite(figure.margin)
             ? "a slowdown of " + format_g(100 * figure.margin, 2) + " % would have shown in 95 of 100 cases"
             : "no slowdown could have shown after so few rounds";
}

std::string figure_text(const Figure& figure) {
  const std::string values =
      fmt::format("{} {} -> {}", figure.metric, value_text(figure, figure.value_a), value_text(figure, figure.value_b));
  if (figure.kind != FigureKind::quality) {
    const std::string bounds =
        figure.confidence > 0 ? fmt::format("{:g} % interval", 100 * figure.confidence) : "one-sided bounds";
    return fmt::format("{}, {} as fast, {}, {}", values, difference_text(figure), bounds,
                       count_text(figure) + (figure.count == 1 ? "s" : ""));
  }
  return fmt::format("{}, change {}, {} with margin {}, {}{}", values, change_text(figure), to_string(*figure.finding),
                     format_g(figure.margin, 3), count_text(figure), needed_text(figure));
}

std::string note_text(const ProgramComparison& comparison) {
  if (comparison.kind == ComparisonKind::application) {
    return "";
  }
  return comparison.commands.correct.empty()
             ? "Correctness was not checked."
             : "Correctness was checked by '" + comparison.commands.correct + "' alone.";
}

TextRows asked_rows(const ProgramComparison& comparison) {
  TextRows rows = {{"A", comparison.a}, {"B", comparison.b}, {"folder", comparison.folder}};
  if (comparison.kind == ComparisonKind::commands) {
    rows.push_back({"metric", metric_words(comparison.commands)});
    rows.push_back({"layout", std::string(to_string(comparison.commands.layout))});
  } else {
    rows.push_back({"application", join(comparison.application.command, " ")});
    rows.push_back({"campaign", comparison.campaign == 0 ? "none: asked for alone"
                                                         : fmt::format("{}, which it ended", comparison.campaign)});
  }
  if (comparison.purpose == ComparisonPurpose::gate) {
    rows.push_back({"margin", comparison.margin > 0 ? format_percent(comparison.margin) : "none"});
  }
  rows.push_back({"machine", comparison.machine});
  rows.push_back({"started", comparison.started_at});
  rows.push_back({"finished", comparison.judgement ? comparison.finished_at : "not yet, or interrupted"});
  if (comparison.judgement) {
    const Judgement& judgement = *comparison.judgement;
    rows.push_back(
        {"judge", fmt::format("{}rule {}; {} runs, {}", judgement.preset.empty() ? "" : judgement.preset + ", ",
                              judgement.rule_version, judgement.processes, format_seconds(judgement.seconds))});
  }
  return rows;
}

TextRows figure_rows(const ProgramComparison& comparison) {
  TextRows rows = {{"view", "metric", "A", "B", "B against A", "finding", "of"}};
  for (const Figure& figure : comparison.figures) {
    rows.push_back({words_of(figure.view), figure.metric, value_text(figure, figure.value_a),
                    value_text(figure, figure.value_b), difference_text(figure), finding_text(figure),
                    count_text(figure)});
  }
  return rows;
}

TextRows run_rows(const ProgramComparison& comparison) {
  if (comparison.kind == ComparisonKind::commands) {
    return round_rows(comparison);
  }
  TextRows rows = {{"view", "pair", "side", "seed", "start-up", "steps", "time", "metrics", "outcome"}};
  for (const ApplicationRun& run : comparison.runs) {
    std::vector<std::string> values;
    for (const auto& [metric, value] : run.values) {
      values.push_back(metric + " " + format_g(value, 6));
    }
    rows.push_back({words_of(run.view), std::to_string(run.pair), run.side == Side::b ? "B" : "A",
                    std::to_string(run.seed), seconds_text(run.start_up_s), std::to_string(run.steps),
                    seconds_text(run.seconds), join(values, ", "),
                    std::string(to_string(run.outcome)) + (run.evidence.empty() ? "" : ": " + run.evidence)});
  }
  return rows;
}

}  // namespace apo
