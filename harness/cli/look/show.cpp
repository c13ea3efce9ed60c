// harness/cli/look/show.cpp - `apo show`: prints one experiment or one variant in full.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/command_options.h"
#include "harness/cli/console.h"
#include "harness/cli/look/variant_text.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/json/records_json.h"
#include "harness/core/records/sources.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/reproduction.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

struct ShowOptions {
  std::string what;
  bool samples = false;
  bool source = false;
  bool log = false;
};

std::string heading(const std::string& text) {
  return "\n" + paint(text, "bold") + "\n";
}

// As its rounds had it, else as its campaign asked for it; nullopt where neither is known.
std::optional<Layout> layout_of(Journal& journal, const Experiment& experiment) {
  for (const Round& round : experiment.rounds) {
    if (round.environment.layout) {
      return round.environment.layout;
    }
  }
  const auto campaign = journal.campaign(experiment.campaign);
  return campaign ? campaign->policy.layout : std::nullopt;
}

std::string head_text(const Experiment& experiment, std::optional<Layout> layout, const std::string& abandoned_why) {
  std::string text = paint("experiment " + std::to_string(experiment.id), "bold") + ": " +
                     experiment.candidate.label() + " against " + experiment.incumbent.label() + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"  workloads", join(experiment.workloads, ", ") + " (class " + experiment.workload_class + ")"},
      {"  campaign", experiment.campaign == 0
                         ? "none: apo compare"
                         : std::to_string(experiment.campaign) + ", candidate " + std::to_string(experiment.index)},
      {"  machine", experiment.machine},
      {"  layout", layout ? std::string(to_string(*layout)) : "not known"},
      {"  techniques", join(experiment.techniques, ", ")},
      {"  started", experiment.started_at},
      {"  finished", !experiment.finished_at.empty() ? experiment.finished_at
                     : abandoned_why.empty()         ? "not yet"
                                                     : "never: " + abandoned_why},
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
    rows.push_back({"  speed-up", format_interval(one.speedup(), one.speedup_lower(), one.speedup_upper()).all() +
                                      " at " + format_g(100 * one.confidence, 3) +
                                      " % confidence, n=" + std::to_string(one.rounds) + " rounds"});
    rows.push_back({"  median call", format_ns(one.incumbent_ns) + " -> " + format_ns(one.candidate_ns)});
    rows.push_back({"  resolves", format_percent(one.minimum_detectable) + " at least"});
    rows.push_back({"  effort", std::to_string(one.processes) + " processes, " + std::to_string(one.samples) +
                                    " samples, " + format_seconds(one.seconds)});
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
  return heading("prediction") +
         format_table({{"  predicted", format_ratio(prediction.low) + ".." + format_ratio(prediction.high) + " over " +
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
  std::vector<std::string> resources;
  for (const auto& [name, value] : build.resources) {
    resources.push_back(name + " " + std::to_string(value));
  }
  return heading(role + " build") +
         format_table({{"  outcome",
                        std::string(to_string(build.outcome)) + (build.evidence.empty() ? "" : ": " + build.evidence)},
                       {"  compiler", build.toolchain.compiler + ", " + build.toolchain.version},
                       {"  flags", join(build.flags, " ")},
                       {"  object", build.object_hash},
                       {"  machine code", build.code_hash},
                       {"  resources", join(resources, ", ")},
                       {"  took", format_seconds(build.seconds) + (build.from_cache ? " (from the cache)" : "")}});
}

std::string rounds_text(const std::vector<Round>& rounds) {
  std::vector<std::vector<std::string>> rows = {{"  stage", "round", "coin", "effect", "time", "seed", "void"}};
  for (const Round& round : rounds) {
    rows.push_back({"  " + std::string(to_string(round.stage)), std::to_string(round.index),
                    round.candidate_in_slot0 ? "candidate, incumbent" : "incumbent, candidate",
                    round.void_why.empty() ? format_percent(round.effect, 3) : "-", format_seconds(round.seconds),
                    std::to_string(round.seed), round.void_why.empty() ? "" : round.void_why});
  }
  return heading("rounds (coin: the arms in slot 0 and slot 1)") + format_table(rows);
}

std::vector<Bottleneck> bottlenecks_of(Journal& journal, const Experiment& experiment) {
  return experiment.iteration == 0 ? std::vector<Bottleneck>{} : journal.brief(experiment.iteration).bottlenecks;
}

std::string shortcomings_text(const std::vector<Bottleneck>& bottlenecks) {
  if (bottlenecks.empty()) {
    return "";
  }
  std::vector<std::vector<std::string>> rows = {{"  bottleneck", "kind", "worth at most", "mostly at", "evidence"}};
  for (const Bottleneck& one : bottlenecks) {
    rows.push_back({"  " + one.name, std::string(to_string(one.kind)),
                    one.bound > 1 ? format_ratio(one.bound) : "nothing",
                    one.line > 0 ? one.file + ":" + std::to_string(one.line) : "-", one.evidence});
  }
  return heading("bottlenecks of the incumbent") + format_table(rows);
}

void add_block(std::string& text, const std::string& prefix, const Block& block) {
  text += prefix;
  for (const Sample& sample : block.samples) {
    text += " " + std::to_string(sample.slot) + ":" + std::to_string(sample.ns);
  }
  text += '\n';
}

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
    text += heading("header " + header.name) + header.text;
  }
  return text;
}

Json headers_document(const Variant& variant) {
  Json headers = Json::array();
  for (const SourceFile& header : variant.headers) {
    headers.push_back({{"name", header.name}, {"source", header.text}});
  }
  return headers;
}

void add_sources(Json& document, Journal& journal, const Experiment& experiment) {
  const Variant candidate = journal.variant(experiment.candidate_source_hash).value_or(Variant{});
  const Variant incumbent = journal.variant(experiment.incumbent_source_hash).value_or(Variant{});
  document["candidate_source"] = candidate.source;
  document["candidate_headers"] = headers_document(candidate);
  document["incumbent_source"] = incumbent.source;
  document["incumbent_headers"] = headers_document(incumbent);
}

// What an accepted candidate changed in the incumbent's sources; "" for others.
std::string diff_of(Journal& journal, const Experiment& experiment) {
  if (!experiment.judgement || experiment.judgement->verdict != Verdict::accepted) {
    return "";
  }
  const auto candidate = journal.variant(experiment.candidate_source_hash);
  const auto incumbent = journal.variant(experiment.incumbent_source_hash);
  return candidate && incumbent ? unified_diff(all_sources(*incumbent), all_sources(*candidate)) : "";
}

std::string diff_text(Journal& journal, const Experiment& experiment) {
  const std::string diff = diff_of(journal, experiment);
  return diff.empty() ? "" : heading("what changed in the source") + paint_diff(diff);
}

std::string why_abandoned(Journal& journal, const Experiment& experiment) {
  const auto abandoned = journal.abandoned_experiments(experiment.campaign);
  const auto found = abandoned.find(experiment.id);
  return found == abandoned.end() ? "" : found->second;
}

// What measured it again, and what it measures again.
std::vector<Experiment> replays_of(Journal& journal, const Experiment& experiment) {
  std::vector<Experiment> again;
  for (const ReplayRow& row : journal.replays_of(experiment.id)) {
    again.push_back(journal.load_experiment(row.experiment, Detail::summary));
  }
  return again;
}

std::string replays_text(Journal& journal, const Experiment& experiment) {
  std::string text;
  if (const auto row = journal.replay(experiment.id)) {
    text += heading("measures again") + "  experiment " + std::to_string(row->original) +
            (row->kind == ReplayRow::Kind::confirm ? ", its confirmation alone" : ", whole") + "\n";
  }
  const std::vector<Experiment> replays = replays_of(journal, experiment);
  if (replays.empty()) {
    return text;
  }
  std::vector<std::vector<std::string>> rows = {{"  experiment", "started", "result"}};
  for (const Experiment& again : replays) {
    std::string result = "never judged";
    if (again.judgement && experiment.judgement) {
      const Reproduction reproduction = reproduction_of(experiment, again);
      result = (reproduction.reproduced ? "reproduced: " : "not reproduced: ") + reproduction.why;
    }
    rows.push_back({"  " + std::to_string(again.id), again.started_at, result});
  }
  return text + heading("measured again") + format_table(rows);
}

// Of the experiment's candidate, once it had become its campaign's champion.
std::vector<Certification> certifications_of(Journal& journal, const Experiment& experiment) {
  std::vector<Certification> result;
  if (experiment.campaign != 0 && experiment.judgement && experiment.judgement->verdict == Verdict::accepted) {
    result = journal.certifications(experiment.campaign);
    std::erase_if(result, [&](const Certification& one) { return !(one.champion == experiment.candidate); });
  }
  return result;
}

std::string certifications_text(Journal& journal, const Experiment& experiment) {
  std::string text;
  for (const Certification& one : certifications_of(journal, experiment)) {
    text +=
        fmt::format("  {} cache: {}{}\n", to_string(one.cache_policy), certified_text(one), one.alarm ? "; ALARM" : "");
  }
  return text.empty() ? "" : heading("certified") + text;
}

Json replays_document(Journal& journal, const Experiment& experiment) {
  Json list = Json::array();
  for (const Experiment& again : replays_of(journal, experiment)) {
    Json one = {{"experiment", again.id}, {"reproduced", nullptr}};
    if (again.judgement && experiment.judgement) {
      const Reproduction reproduction = reproduction_of(experiment, again);
      one["reproduced"] = reproduction.reproduced;
      one["because"] = reproduction.why;
    }
    list.push_back(std::move(one));
  }
  return list;
}

Json experiment_document(Journal& journal, const Experiment& experiment, const ShowOptions& options) {
  Json document = to_document_with_rounds(experiment);
  if (options.samples) {
    document["rounds"] = list_of(experiment.rounds, to_document_with_samples);
  }
  document["bottlenecks"] = to_documents(bottlenecks_of(journal, experiment));
  const std::optional<Layout> layout = layout_of(journal, experiment);
  document["layout"] = layout ? Json(to_string(*layout)) : Json(nullptr);
  document["measured_again"] = replays_document(journal, experiment);
  if (const auto row = journal.replay(experiment.id)) {
    document["measures_again"] = row->original;
  }
  document["certifications"] = to_documents(certifications_of(journal, experiment));
  document["abandoned"] = why_abandoned(journal, experiment);
  document["diff"] = diff_of(journal, experiment);
  if (options.source) {
    add_sources(document, journal, experiment);
  }
  if (options.log) {
    document["candidate_log"] = experiment.candidate_build.log;
    document["incumbent_log"] = experiment.incumbent_build.log;
  }
  return document;
}

std::string experiment_text(Journal& journal, const Experiment& experiment, const ShowOptions& options) {
  std::string text =
      head_text(experiment, layout_of(journal, experiment), why_abandoned(journal, experiment)) +
      judgement_text(experiment) + certifications_text(journal, experiment) + replays_text(journal, experiment) +
      shortcomings_text(bottlenecks_of(journal, experiment)) + prediction_text(experiment) + gates_text(experiment) +
      build_text("candidate", experiment.candidate_build) + build_text("incumbent", experiment.incumbent_build) +
      rounds_text(experiment.rounds) + diff_text(journal, experiment);
  if (options.samples) {
    text += samples_text(experiment.rounds);
  }
  if (options.source) {
    text += source_text(journal.variant(experiment.candidate_source_hash).value_or(Variant{}));
  }
  if (options.log) {
    text += heading("candidate build log") + experiment.candidate_build.log + heading("incumbent build log") +
            experiment.incumbent_build.log;
  }
  return text;
}

int show_experiment(std::int64_t id, const ShowOptions& options, const Globals& globals) {
  Journal journal = Journal::open(make_paths(globals.journal).journal, Access::read_only);
  const Experiment experiment = journal.load_experiment(id);
  if (globals.json) {
    print_json(experiment_document(journal, experiment, options));
  } else {
    print(experiment_text(journal, experiment, options));
  }
  return kDone;
}

int show_variant(const ShowOptions& options, const Globals& globals) {
  if (options.samples || options.log) {
    throw UserError(std::string(options.samples ? "--samples" : "--log") + " needs the number of an experiment, not '" +
                        options.what + "'",
                    "'apo query' lists the experiments");
  }
  Workspace workspace(make_paths(globals.journal));
  if (options.what.find('/') == std::string::npos) {
    throw UserError("'" + options.what + "' is neither an experiment's number nor a variant FAMILY/NAME",
                    "'apo query' lists the experiments, 'apo list' the variants");
  }
  const Variant variant = known_variant(workspace, options.what);
  if (globals.json) {
    Json document = to_document(variant);
    if (options.source) {
      document["source"] = variant.source;
      document["headers"] = headers_document(variant);
    }
    print_json(document);
  } else {
    print(paint(variant.id(), "bold") + "\n" + describe_variant(variant) +
          (options.source ? source_text(variant) : ""));
  }
  return kDone;
}

int show_commands(std::int64_t id, const ShowOptions& options, const Globals& globals) {
  if (options.samples || options.log || options.source) {
    throw UserError("comparison c" + std::to_string(id) + " is of two commands: it has no samples, source or log",
                    "without these options 'apo show' prints every run");
  }
  Journal journal = Journal::open(make_paths(globals.journal).journal, Access::read_only);
  const CommandComparison comparison = journal.load_command_comparison(id);
  if (globals.json) {
    print_json(to_document_with_runs(comparison));
  } else {
    print(command_comparison_in_full(comparison));
  }
  return kDone;
}

int show(const ShowOptions& options, const Globals& globals) {
  if (const auto command = command_number(options.what)) {
    return show_commands(*command, options, globals);
  }
  const auto id = parse_int(options.what);
  return id ? show_experiment(*id, options, globals) : show_variant(options, globals);
}

}  // namespace

Action define_show(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ShowOptions>();
  app.add_option("what", options->what,
                 "number of an experiment, c and the number of a comparison of commands, or a variant FAMILY/NAME")
      ->required();
  app.add_flag("--samples", options->samples, "print every timed sample of the experiment");
  app.add_flag("--source", options->source, "print the source");
  app.add_flag("--log", options->log, "print the compiler's log");
  return [options, &globals] { return show(*options, globals); };
}

}  // namespace apo
