// harness/cli/look/experiment_text.cpp - one table for each part of an experiment.
#include "harness/cli/look/experiment_text.h"

#include <fmt/format.h>

#include "harness/cli/console.h"
#include "harness/cli/look/variant_text.h"
#include "harness/core/interval.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/loop/replay/replay.h"

namespace apo {
namespace {

std::string heading(const std::string& text) {
  return "\n" + paint(text, "bold") + "\n";
}

std::string head_text(const ExperimentView& view) {
  const Experiment& experiment = view.experiment;
  std::string text = fmt::format("{}: {} against {}\n", paint(fmt::format("experiment {}", experiment.id), "bold"),
                                 experiment.candidate.label(), experiment.incumbent.label());
  std::vector<std::vector<std::string>> rows = {
      {"  workloads", join(experiment.workloads, ", ") + " (class " + experiment.workload_class + ")"},
      {"  campaign", experiment.campaign == 0 ? "none: apo compare"
                                              : fmt::format("{}, candidate {}", experiment.campaign, experiment.index)},
      {"  machine", experiment.machine + (view.device.empty() ? "" : ", " + view.device)},
      {"  layout", view.layout ? std::string(to_string(*view.layout)) : "not known"},
      {"  techniques", join(experiment.techniques, ", ")},
      {"  started", experiment.started_at},
      {"  finished", !experiment.finished_at.empty() ? experiment.finished_at
                     : view.abandoned.empty()        ? "not yet"
                                                     : "never: " + view.abandoned},
      {"  candidate source", experiment.candidate_source_hash},
      {"  incumbent source", experiment.incumbent_source_hash}};
  return text + format_table(rows);
}

bool was_timed(const Experiment& experiment) {
  return experiment.judgement && experiment.judgement->reason != Reason::gate_failed;
}

std::string judgement_text(const Experiment& experiment) {
  if (!experiment.judgement) {
    return heading("judgement") + "  none\n";
  }
  const Judgement& one = *experiment.judgement;
  std::vector<std::vector<std::string>> rows = {
      {"  verdict", std::string(to_string(one.verdict)) + " (" + std::string(to_string(one.reason)) + ")"},
      {"  because", one.sentence}};
  if (was_timed(experiment)) {
    const std::string speedup = format_interval(one.speedup(), one.speedup_lower(), one.speedup_upper()).all();
    rows.push_back({"  speed-up", fmt::format("{} at {} % confidence, n={} rounds", speedup,
                                              format_g(100 * one.confidence, 3), one.rounds)});
    rows.push_back({"  median call", format_ns(one.incumbent_ns) + " -> " + format_ns(one.candidate_ns)});
    rows.push_back({"  resolves", format_percent(one.minimum_detectable) + " at least"});
    rows.push_back({"  effort", fmt::format("{} processes, {} samples, {}", one.processes, one.samples,
                                            format_seconds(one.seconds))});
    rows.push_back({"  judge", one.preset + ", " +
                                   (one.cache_policy ? std::string(to_string(*one.cache_policy)) : "unknown") +
                                   " caches, alpha " + format_g(one.alpha, 3) + ", rule " + one.rule_version});
  }
  return heading("judgement") + format_table(rows);
}

std::string prediction_text(const Experiment& experiment) {
  const Prediction& prediction = experiment.prediction;
  if (!has_prediction(prediction)) {
    return heading("prediction") + "  none was made\n";
  }
  std::string outcome = "not timed";
  if (was_timed(experiment)) {
    const double speedup = experiment.judgement->speedup();
    outcome = format_ratio(speedup) + (speedup < prediction.low    ? ": below the band"
                                       : speedup > prediction.high ? ": above the band"
                                                                   : ": inside the band");
  }
  return heading("prediction") + format_table({{"  predicted", format_band(prediction.low, prediction.high) + " over " +
                                                                   experiment.incumbent.label()},
                                               {"  because", prediction.because},
                                               {"  measured", outcome}});
}

std::string gates_text(const Experiment& experiment) {
  std::vector<std::vector<std::string>> rows = {{"  gate", "outcome", "time", "evidence"}};
  for (const GateResult& gate : experiment.gates) {
    rows.push_back({"  " + gate.gate, std::string(to_string(gate.outcome)),
                    gate.seconds > 0 ? format_seconds(gate.seconds) : "-", gate.evidence});
  }
  return heading("gates") + format_table(rows);
}

std::string build_text(const std::string& role, const Build& build) {
  if (build.key.empty()) {
    return heading(role + " build") + "  not built\n";
  }
  return heading(role + " build") +
         format_table({{"  outcome",
                        std::string(to_string(build.outcome)) + (build.evidence.empty() ? "" : ": " + build.evidence)},
                       {"  compiler", build.toolchain.compiler + ", " + build.toolchain.version},
                       {"  flags", join(build.flags, " ")},
                       {"  object", build.object_hash},
                       {"  machine code", build.code_hash},
                       {"  resources", resources_text(build)},
                       {"  took", format_seconds(build.seconds) + (build.from_cache ? " (from the cache)" : "")}});
}

std::string rounds_text(const std::vector<Round>& rounds) {
  std::vector<std::vector<std::string>> rows = {{"  stage", "round", "coin", "effect", "time", "seed", "void"}};
  for (const Round& round : rounds) {
    rows.push_back({"  " + std::string(to_string(round.stage)), std::to_string(round.index),
                    round.candidate_in_slot0 ? "candidate, incumbent" : "incumbent, candidate",
                    round.void_why.empty() ? format_percent(round.effect, 3) : "-", format_seconds(round.seconds),
                    std::to_string(round.seed), round.void_why});
  }
  return heading("rounds (coin: the arms in slot 0 and slot 1)") + format_table(rows);
}

std::string shortcomings_text(const std::vector<Bottleneck>& bottlenecks) {
  if (bottlenecks.empty()) {
    return "";
  }
  std::vector<std::vector<std::string>> rows = {{"  bottleneck", "kind", "worth", "mostly at", "evidence"}};
  for (const Bottleneck& one : bottlenecks) {
    rows.push_back({"  " + one.name, std::string(to_string(one.kind)), one.bound > 1 ? worth_text(one) : "nothing",
                    one.line > 0 ? fmt::format("{}:{}", one.file, one.line) : "-", one.evidence});
  }
  return heading("bottlenecks of the incumbent") + format_table(rows);
}

std::string diff_text(const ExperimentView& view) {
  const std::string diff = diff_of(view);
  return diff.empty() ? "" : heading("what changed in the source") + paint_diff(diff);
}

std::string replays_text(const ExperimentView& view) {
  std::string text;
  if (view.measures_again) {
    text += heading("measures again") + fmt::format("  experiment {}", view.measures_again->original) +
            (view.measures_again->kind == ReplayRow::Kind::confirm ? ", its confirmation alone\n" : ", whole\n");
  }
  if (view.replays.empty()) {
    return text;
  }
  std::vector<std::vector<std::string>> rows = {{"  experiment", "started", "result"}};
  for (const Experiment& again : view.replays) {
    std::string result = "never judged";
    if (again.judgement && view.experiment.judgement) {
      const Reproduction reproduction = reproduction_of(view.experiment, again);
      result = (reproduction.reproduced ? "reproduced: " : "not reproduced: ") + reproduction.why;
    }
    rows.push_back({fmt::format("  {}", again.id), again.started_at, result});
  }
  return text + heading("measured again") + format_table(rows);
}

std::string certifications_text(const std::vector<Certification>& certifications) {
  std::string text;
  for (const Certification& one : certifications) {
    text +=
        fmt::format("  {} cache: {}{}\n", to_string(one.cache_policy), certified_text(one), one.alarm ? "; ALARM" : "");
  }
  return text.empty() ? "" : heading("certified") + text;
}

void add_block(std::string& text, const std::string& prefix, const Block& block) {
  text += prefix;
  for (const Sample& sample : block.samples) {
    text += fmt::format(" {}:{}", sample.slot, sample.ns);
  }
  text += '\n';
}

}  // namespace

std::string samples_text(const std::vector<Round>& rounds) {
  std::string text = heading("samples (slot:ns, in the order they were taken)");
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      text += fmt::format("  {} {}  {}, {} calls in a sample\n", to_string(round.stage), round.index, workload.workload,
                          workload.repetitions);
      for (const Block& block : workload.warmup) {
        add_block(text, "    warm-up", block);
      }
      for (const Block& block : workload.blocks) {
        add_block(text, "    block  ", block);
      }
    }
  }
  return text;
}

std::string source_text(const Variant& variant) {
  std::string text = heading("source") + variant.source;
  for (const SourceFile& header : variant.headers) {
    text += heading("header " + header.name) + readable_text(header);
  }
  return text;
}

std::string diff_of(const ExperimentView& view) {
  const std::optional<Judgement>& judgement = view.experiment.judgement;
  const bool accepted = judgement && judgement->verdict == Verdict::accepted;
  return accepted && view.candidate && view.incumbent
             ? unified_diff(all_sources(*view.incumbent), all_sources(*view.candidate))
             : "";
}

std::string logs_text(const Experiment& experiment) {
  return heading("candidate build log") + as_quotation(experiment.candidate_build.log) +
         heading("incumbent build log") + as_quotation(experiment.incumbent_build.log);
}

std::string experiment_text(const ExperimentView& view) {
  const Experiment& experiment = view.experiment;
  return head_text(view) + judgement_text(experiment) + certifications_text(view.certifications) + replays_text(view) +
         shortcomings_text(view.bottlenecks) + prediction_text(experiment) + gates_text(experiment) +
         build_text("candidate", experiment.candidate_build) + build_text("incumbent", experiment.incumbent_build) +
         rounds_text(experiment.rounds) + diff_text(view);
}

}  // namespace apo
