// reports/sections/evidence_sections.cpp - the experiments with their gates, predictions against outcomes,
// certification.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/sections/sections.h"

namespace apo::report {
std::string reason_text(const Experiment& experiment) {
  const std::string reason(to_string(experiment.judgement->reason));
  return experiment.judgement->reason == Reason::gate_failed
             ? reason + ": " + std::string(to_string(experiment.outcome))
             : reason;
}

// A search effect guided the judge; only a confirmed one says how large the effect is.
std::string staged_text(const Experiment& experiment) {
  const bool search_only = has_effect(experiment) && effect_stage(experiment) == RoundStage::search;
  return measured_text(experiment) + (search_only ? ", search only" : "");
}

namespace {

constexpr std::size_t kLogLines = 12;

std::string effort_text(const Judgement& judgement) {
  std::string text = fmt::format("{} fresh processes, {} timed samples", judgement.processes, judgement.samples);
  if (judgement.seconds > 0) {
    text += ", " + format_seconds(judgement.seconds);
  }
  if (judgement.minimum_detectable > 0) {
    text += "; could have resolved " + percent_text(std::expm1(judgement.minimum_detectable));
  }
  if (judgement.minimum_claim > 0) {
    text += "; too noisy to claim less than " + percent_text(std::expm1(judgement.minimum_claim));
  }
  text += judgement.cache_policy ? fmt::format("; {} cache", to_string(*judgement.cache_policy)) : "";
  text += judgement.preset.empty() ? "" : ", " + judgement.preset + " preset";
  text += judgement.alpha > 0 ? ", alpha " + format_g(judgement.alpha, 3) : "";
  text += judgement.rule_version.empty() ? "" : ", rule " + judgement.rule_version;
  return text;
}

std::string build_text(const Build& build) {
  std::string text = std::string(to_string(build.outcome));
  text += build.seconds > 0 ? " in " + format_seconds(build.seconds) : "";
  text += build.from_cache ? ", from the cache" : "";
  text += build.evidence.empty() ? "" : ": " + build.evidence;
  text += build.code_hash.empty() ? "" : ", machine code " + build.code_hash.substr(0, 12);
  return text + (build.resources.empty() ? "" : ", " + resources_text(build));
}

std::string last_lines(const std::string& log) {
  std::vector<std::string> lines = split(trim(log), '\n');
  if (lines.size() <= kLogLines) {
    return join(lines, "\n");
  }
  const std::size_t dropped = lines.size() - kLogLines;
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(dropped));
  return "(" + counted(dropped, "line") + " before)\n" + join(lines, "\n");
}

std::string prediction_text(const Experiment& experiment) {
  const Prediction& prediction = experiment.prediction;
  std::string text = "Predicted: " + band_text(prediction);
  if (has_prediction(prediction)) {
    text += prediction.because.empty() ? "" : ", because " + prediction.because;
    const double speedup = has_effect(experiment) ? experiment.judgement->speedup() : kNotMeasured;
    text += !has_effect(experiment)     ? ""
            : speedup < prediction.low  ? "; the effect is below the band"
            : speedup > prediction.high ? "; the effect is above the band"
                                        : "; the effect is inside the band";
  }
  return text;
}

void write_source_diff(const ReportModel& model, const Experiment& experiment, Writer& writer) {
  const auto found = model.diffs.find(experiment.id);
  if (found == model.diffs.end()) {
    return;
  }
  if (found->second.empty()) {
    writer.paragraph("The source is its incumbent's; only settings differ.");
    return;
  }
  write_diff(found->second, experiment, writer);
}

void write_one(const ReportModel& model, const Experiment& experiment, Writer& writer) {
  writer.begin_fold({strong(fmt::format("#{} ", experiment.index)), code(experiment.candidate.label()), " ",
                     verdict_word(experiment.judgement->verdict),
                     has_effect(experiment) ? " " + measured_text(experiment) : " " + reason_text(experiment)},
                    anchor_of(experiment.index));
  write_facts(experiment, writer);
  write_source_diff(model, experiment, writer);
  write_gates(experiment, writer);
  if (experiment.candidate_build.outcome == Outcome::build_failed && !experiment.candidate_build.log.empty()) {
    writer.code_block(last_lines(experiment.candidate_build.log));
  }
  writer.end_fold();
}

std::string score_text(const PredictionScore& score) {
  if (score.scored == 0) {
    return counted(static_cast<std::size_t>(score.predicted), "prediction") + ", none of them measured.";
  }
  const double off = std::expm1(score.mean_error);
  return fmt::format(
      "{} of {} measured effects lie inside their band, which is meant to hold four of five. On average the effect "
      "came "
      "out {} {} the middle of its band; the mean distance from the middle is a factor of {}, where always predicting "
      "1x would be off by {}.",
      score.inside, score.scored, percent_text(std::fabs(off)), off > 0 ? "above" : "below",
      format_g(std::exp(score.mean_absolute_error), 3), format_g(std::exp(score.mean_absolute_effect), 3));
}

std::string order_text(const PredictionScore& score) {
  if (score.pairs == 0) {
    return "No two candidates with different predictions were measured over one incumbent, so their order is not "
           "scored.";
  }
  return fmt::format(
      "In {} of {} pairs over one incumbent the candidate with the higher prediction was the faster one. Predictions "
      "dealt out at random are right in {} of them on average, and in as many or more with a probability of {}.",
      score.right_pairs, score.pairs, format_g(0.5 * score.pairs, 3), percent_text(score.chance));
}

std::string sentinel_text(const SentinelRow& sentinel) {
  return sentinel.rounds > 0
             ? fmt::format("{} [{}, {}] n={}", format_percent(sentinel.effect), format_percent(sentinel.lower),
                           format_percent(sentinel.upper), sentinel.rounds)
             : kNotMeasuredText;
}

void write_sentinels(const ReportModel& model, Writer& writer) {
  if (model.sentinels.empty()) {
    writer.paragraph("No A/A run was made, so what this machine can resolve was not measured.");
    return;
  }
  writer.paragraph("A/A runs (the same code in both slots; anything but 0 % is the machine or the judge):");
  Table table{{"at", "code", "effect", "spread of a round", "alarm"}, {}};
  for (const SentinelRow& sentinel : model.sentinels) {
    table.rows.push_back({known(sentinel.at), code(sentinel.configuration.label()), sentinel_text(sentinel),
                          std::isfinite(sentinel.sd) ? fixed(100 * sentinel.sd, 3) + " %" : kNotMeasuredText,
                          sentinel.alarm ? "ALARM" : "no"});
  }
  writer.table(table);
}

// Says in few words whether the final incumbent changes the clock.
std::string clock_cell(const Certification& certification) {
  if (!certification.clock) {
    return "not looked at";
  }
  const ClockCoupling& clock = *certification.clock;
  if (!clock.missing.empty()) {
    return "not known";
  }
  return (clock.coupled ? "COUPLED, " : "not coupled, ") + format_percent(clock.clock_effect) + " [" +
         format_percent(clock.clock_lower) + ", " + format_percent(clock.clock_upper) + "]";
}

}  // namespace

void write_facts(const Experiment& experiment, Writer& writer) {
  const Judgement judgement = experiment.judgement.value_or(Judgement{});
  std::vector<Line> items;
  if (experiment.judgement) {
    items.push_back(
        {"Verdict: ", verdict_word(judgement.verdict),
         " (" + reason_text(experiment) + ")" + (judgement.sentence.empty() ? "" : ": " + judgement.sentence)});
  } else {
    items.push_back("Verdict: none");
  }
  items.push_back({"Against ", code(experiment.incumbent.label()),
                   experiment.workloads.empty() ? "" : " on " + join(experiment.workloads, ", ")});
  if (!experiment.techniques.empty()) {
    items.push_back("Techniques: " + join(experiment.techniques, ", "));
  }
  items.push_back(prediction_text(experiment));
  if (has_effect(experiment)) {
    items.push_back(fmt::format("Measured: {} rounds, {} interval, {} stage; {}", measured_text(experiment),
                                percent_text(judgement.confidence), to_string(effect_stage(experiment)),
                                effort_text(judgement)));
    items.push_back("Time of one call: " + time_text(judgement.incumbent_ns) + " to " +
                    time_text(judgement.candidate_ns) + " (median; geometric mean over the workloads)");
  } else {
    items.push_back("Measured: " + std::string(kNotMeasuredText));
  }
  items.push_back("Build: " + build_text(experiment.candidate_build));
  const auto voids = std::count_if(experiment.rounds.begin(), experiment.rounds.end(),
                                   [](const Round& round) { return !round.void_why.empty(); });
  if (voids > 0) {
    items.push_back(fmt::format("Void rounds: {} of {}", voids, experiment.rounds.size()));
  }
  writer.list(items);
}

void write_gates(const Experiment& experiment, Writer& writer) {
  if (experiment.gates.empty()) {
    return;
  }
  Table table{{"gate", "outcome", "took", "evidence"}, {}};
  for (const GateResult& gate : experiment.gates) {
    table.rows.push_back(
        {gate.gate, to_string(gate.outcome), gate.seconds > 0 ? format_seconds(gate.seconds) : "-", gate.evidence});
  }
  writer.table(table);
}

void write_diff(const std::string& diff, const Experiment& experiment, Writer& writer) {
  const auto count = [&](char sign) {  // without the two lines of the header
    const std::vector<std::string> lines = split(diff, '\n');
    return std::count_if(lines.begin() + std::min<std::ptrdiff_t>(2, std::ssize(lines)), lines.end(),
                         [&](const std::string& line) { return line.starts_with(sign); });
  };
  writer.begin_fold({"Source against ", code(experiment.incumbent.label()),
                     fmt::format(": {} lines added, {} removed", count('+'), count('-'))},
                    "");
  writer.diff(diff);
  writer.end_fold();
}

void write_experiments(const ReportModel& model, Writer& writer) {
  writer.heading(2, "Experiments");
  if (model.experiments.empty()) {
    writer.paragraph("No experiment has a verdict.");
    return;
  }
  Table table{{"index", "candidate", "against", "predicted", "measured speed-up", "verdict", "reason", "id"}, {}, true};
  for (const Experiment& experiment : model.experiments) {
    Line verdict = {verdict_word(experiment.judgement->verdict)};
    if (model.withdrawn.contains(experiment.id)) {
      verdict.push_back(", withdrawn");
    }
    table.rows.push_back({experiment.index,
                          Span(experiment.candidate.label(), Style::code, "#" + anchor_of(experiment.index)),
                          code(experiment.incumbent.label()), band_text(experiment.prediction), staged_text(experiment),
                          verdict, reason_text(experiment), experiment.id});
  }
  writer.table(table);
  writer.paragraph(
      "Speed-up over the incumbent of that moment [interval], n valid rounds, each a fresh process. "
      "\"Search only\" effects guided the judge and must not be quoted.");
  writer.plot("effects");
  for (const Experiment& experiment : model.experiments) {
    write_one(model, experiment, writer);
  }
}

void write_predictions(const ReportModel& model, Writer& writer) {
  writer.heading(2, "Predictions and outcomes");
  if (model.predictions.empty()) {
    writer.paragraph("Nothing was predicted.");
    return;
  }
  writer.paragraph(score_text(model.prediction_score));
  writer.paragraph(order_text(model.prediction_score));
}

void write_certifications(const std::vector<Certification>& certifications, Writer& writer) {
  Table table{{"final incumbent", "baseline", "cache", "measured head to head", "clock", "product of accepted effects",
               "alarm", "at"},
              {}};
  for (const Certification& one : certifications) {
    table.rows.push_back({code(one.incumbent.label()), code(one.baseline.label()), to_string(one.cache_policy),
                          certified_figure(one), clock_cell(one), ratio_text(one.claimed_effect),
                          one.alarm ? "ALARM" : "no", known(one.at)});
  }
  writer.table(table);
  for (const Certification& one : certifications) {
    if (const std::string text = clock_text(one); !text.empty()) {
      writer.paragraph(
          {code(one.incumbent.label()), fmt::format(", {} cache: {}.", to_string(one.cache_policy), text)});
    }
  }
}

void write_certification(const ReportModel& model, Writer& writer) {
  writer.heading(2, "Certification");
  if (model.certifications.empty()) {
    writer.paragraph("No certification was made, so no cumulative speed-up may be quoted.");
  } else {
    write_certifications(model.certifications, writer);
    writer.paragraph(
        {"The final incumbent against the campaign's own baseline, 99.8 % interval (of a clock-coupled one that of "
         "its solo runs). The clock: how much higher it is with that incumbent alone than with the baseline alone. "
         "Only an effect that was measured head to head may be quoted as the campaign's speed-up; the naive "
         "product "
         "of the accepted effects is a check. Shrunk for selection bias by its own standard error s, "
         "effect x (1 - (s / effect)^2), that product is ",
         ratio_text(model.shrunken_effect) + "."});
  }
  write_sentinels(model, writer);
}

}  // namespace apo::report
