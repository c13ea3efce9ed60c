// harness/cli/look/show.cpp - `apo show`: prints one experiment, comparison or variant in full, or the change of a
// variant.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/cli/look/diff.h"
#include "harness/cli/look/variant_text.h"
#include "harness/cli/terminal.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/loop/replay/replay.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/checks.h"
#include "journal/facts/comparisons.h"
#include "journal/facts/experiments.h"
#include "journal/facts/replays.h"
#include "journal/facts/research/briefs.h"
#include "journal/facts/unfinished.h"
#include "journal/facts/variants.h"
#include "journal/facts/workers.h"
#include "journal/journal.h"

namespace apo {
namespace {

using Json = nlohmann::ordered_json;
using report::Writer;

struct ShowOptions {
  std::string what;
  std::string diff;  // the variant to hold it against, or kParent
  bool samples = false;
  bool source = false;
  bool log = false;
};

struct ExperimentView {
  Experiment experiment;
  std::optional<Layout> layout;
  std::string device;                         // of the worker that judged it; "" where none did
  std::string abandoned;                      // why it was never judged; "" for any other
  std::vector<Bottleneck> bottlenecks;        // of the incumbent
  std::vector<Certification> certifications;  // of the candidate as its campaign's final incumbent
  std::optional<ReplayRow> measures_again;
  std::vector<Experiment> replays;   // experiments that measured it again
  std::optional<Variant> candidate;  // as it was judged
  std::optional<Variant> incumbent;
};

// The layout of its rounds, else of its campaign; nullopt where neither is known.
std::optional<Layout> layout_of(Journal& journal, const Experiment& experiment) {
  for (const Round& round : experiment.rounds) {
    if (round.environment.layout) {
      return round.environment.layout;
    }
  }
  const auto campaign = find_campaign(journal, experiment.campaign);
  return campaign ? campaign->policy.layout : std::nullopt;
}

std::string why_abandoned(Journal& journal, const Experiment& experiment) {
  if (!experiment.abandoned.empty()) {
    return experiment.abandoned;
  }
  const std::vector<Unfinished> interrupted = interrupted_experiments(journal);
  return std::ranges::any_of(interrupted, [&](const Unfinished& one) { return one.id == experiment.id; })
             ? "the run that measured it was interrupted"
             : "";
}

// The experiments that measured it again.
std::vector<Experiment> replays_of(Journal& journal, const Experiment& experiment) {
  std::vector<Experiment> again;
  for (const ReplayRow& row : replays_of(journal, experiment.id)) {
    again.push_back(load_experiment(journal, row.experiment, Detail::summary));
  }
  return again;
}

// Certifications of the experiment's candidate as its campaign's final incumbent.
std::vector<Certification> certifications_of(Journal& journal, const Experiment& experiment) {
  std::vector<Certification> result;
  if (experiment.campaign != 0 && experiment.judgement && experiment.judgement->verdict == Verdict::accepted) {
    result = certifications_of(journal, experiment.campaign);
    std::erase_if(result, [&](const Certification& one) { return !(one.incumbent == experiment.candidate); });
  }
  return result;
}

ExperimentView load_view(Journal& journal, std::int64_t id) {
  const Experiment experiment = load_experiment(journal, id);
  const auto worker = worker_of(journal, id);
  return {.experiment = experiment,
          .layout = layout_of(journal, experiment),
          .device = worker ? worker->device : "",
          .abandoned = why_abandoned(journal, experiment),
          .bottlenecks = experiment.iteration == 0 ? std::vector<Bottleneck>()
                                                   : load_brief(journal, experiment.iteration).bottlenecks,
          .certifications = certifications_of(journal, experiment),
          .measures_again = find_replay(journal, experiment.id),
          .replays = replays_of(journal, experiment),
          .candidate = find_variant(journal, experiment.candidate_source_hash),
          .incumbent = find_variant(journal, experiment.incumbent_source_hash)};
}

// The difference between the sources of an accepted candidate and its incumbent, else "".
std::string diff_of(const ExperimentView& view) {
  const std::optional<Judgement>& judgement = view.experiment.judgement;
  const bool accepted = judgement && judgement->verdict == Verdict::accepted;
  return accepted && view.candidate && view.incumbent
             ? unified_diff(all_sources(*view.incumbent), all_sources(*view.candidate))
             : "";
}

// ---------------------------------------------------------------- for programs

Json headers_document(const Variant& variant) {
  Json headers = Json::array();
  for (const SourceFile& header : variant.headers) {
    headers.push_back({{"name", header.name}, {"source", readable_text(header)}});
  }
  return headers;
}

void add_sources(Json& document, const ExperimentView& view) {
  const Variant candidate = view.candidate.value_or(Variant{});
  const Variant incumbent = view.incumbent.value_or(Variant{});
  document["candidate_source"] = candidate.source;
  document["candidate_headers"] = headers_document(candidate);
  document["incumbent_source"] = incumbent.source;
  document["incumbent_headers"] = headers_document(incumbent);
}

Json replays_document(const ExperimentView& view) {
  Json list = Json::array();
  for (const Experiment& again : view.replays) {
    Json one = {{"experiment", again.id}, {"reproduced", nullptr}};
    if (again.judgement && view.experiment.judgement) {
      const Reproduction reproduction = reproduction_of(view.experiment, again);
      one["reproduced"] = reproduction.reproduced;
      one["because"] = reproduction.why;
    }
    list.push_back(std::move(one));
  }
  return list;
}

Json experiment_document(const ExperimentView& view, const ShowOptions& options) {
  const Experiment& experiment = view.experiment;
  Json document = to_document_with_rounds(experiment);
  if (options.samples) {
    document["rounds"] = list_of(experiment.rounds, to_document_with_samples);
  }
  document["bottlenecks"] = to_documents(view.bottlenecks);
  document["layout"] = view.layout ? Json(to_string(*view.layout)) : Json(nullptr);
  document["device"] = view.device.empty() ? Json(nullptr) : Json(view.device);
  document["measured_again"] = replays_document(view);
  if (view.measures_again) {
    document["measures_again"] = view.measures_again->original;
  }
  document["certifications"] = to_documents(view.certifications);
  document["abandoned"] = view.abandoned;
  document["diff"] = diff_of(view);
  if (options.source) {
    add_sources(document, view);
  }
  if (options.log) {
    document["candidate_log"] = experiment.candidate_build.log;
    document["incumbent_log"] = experiment.incumbent_build.log;
  }
  return document;
}

// ---------------------------------------------------------------- for people

void write_head(const ExperimentView& view, Writer& writer) {
  const Experiment& experiment = view.experiment;
  writer.heading(1, fmt::format("experiment {}: {} against {}", experiment.id, experiment.candidate.label(),
                                experiment.incumbent.label()));
  writer.table(
      {{},
       {{"workloads", join(experiment.workloads, ", ") + " (class " + experiment.workload_class + ")"},
        {"campaign", experiment.campaign == 0 ? "none: apo compare"
                                              : fmt::format("{}, candidate {}", experiment.campaign, experiment.index)},
        {"machine", experiment.machine + (view.device.empty() ? "" : ", " + view.device)},
        {"layout", view.layout ? to_string(*view.layout) : "not known"},
        {"launched as",
         std::ranges::any_of(experiment.rounds, [](const Round& one) { return one.environment.graph.value_or(false); })
             ? "one CUDA graph of a sample's calls"
             : "single calls"},
        {"started", experiment.started_at},
        {"finished", !experiment.finished_at.empty() ? experiment.finished_at
                     : view.abandoned.empty()        ? "not yet"
                                                     : "never: " + view.abandoned},
        {"candidate source", experiment.candidate_source_hash},
        {"incumbent source", experiment.incumbent_source_hash}}});
}

void write_replays(const ExperimentView& view, Writer& writer) {
  if (view.measures_again) {
    writer.heading(2, "measures again");
    writer.paragraph(
        fmt::format("experiment {}, {}", view.measures_again->original,
                    view.measures_again->kind == ReplayRow::Kind::confirm ? "its confirmation alone" : "whole"));
  }
  report::Table table{{"experiment", "started", "result"}, {}};
  for (const Experiment& again : view.replays) {
    std::string result = "never judged";
    if (again.judgement && view.experiment.judgement) {
      const Reproduction reproduction = reproduction_of(view.experiment, again);
      result = (reproduction.reproduced ? "reproduced: " : "not reproduced: ") + reproduction.why;
    }
    table.rows.push_back({again.id, again.started_at, result});
  }
  if (!table.rows.empty()) {
    writer.heading(2, "measured again");
    writer.table(table);
  }
}

void write_builds(const Experiment& experiment, Writer& writer) {
  report::Table table{{"build", "outcome", "resources", "compiler", "object", "machine code", "flags"}, {}};
  for (const auto& [role, build] :
       {std::pair("candidate", &experiment.candidate_build), std::pair("incumbent", &experiment.incumbent_build)}) {
    table.rows.push_back({role,
                          build->key.empty() ? "not built"
                                             : std::string(to_string(build->outcome)) +
                                                   (build->evidence.empty() ? "" : ": ") + build->evidence,
                          resources_text(*build), build->toolchain.compiler + ", " + build->toolchain.version,
                          build->object_hash, build->code_hash, join(build->flags, " ")});
  }
  writer.heading(2, "builds");
  writer.table(table);
}

void write_rounds(const std::vector<Round>& rounds, Writer& writer) {
  report::Table table{{"stage", "round", "coin", "effect", "time", "seed", "void"}, {}};
  for (const Round& round : rounds) {
    table.rows.push_back({to_string(round.stage), round.index,
                          round.candidate_in_slot0 ? "candidate, incumbent" : "incumbent, candidate",
                          round.void_why.empty() ? format_percent(round.effect, 3) : "-", format_seconds(round.seconds),
                          round.seed, round.void_why});
  }
  writer.heading(2, "rounds (coin: the arms in slot 0 and slot 1)");
  writer.table(table);
}

void write_experiment(const ExperimentView& view, Writer& writer) {
  const Experiment& experiment = view.experiment;
  write_head(view, writer);
  writer.heading(2, "judgement");
  write_facts(experiment, writer);
  if (!view.certifications.empty()) {
    writer.heading(2, "certified");
    write_certifications(view.certifications, writer);
  }
  write_replays(view, writer);
  if (!view.bottlenecks.empty()) {
    writer.heading(2, "bottlenecks of the incumbent");
    write_bottlenecks(view.bottlenecks, writer);
  }
  writer.heading(2, "gates");
  write_gates(experiment, writer);
  write_builds(experiment, writer);
  write_rounds(experiment.rounds, writer);
  if (const std::string diff = diff_of(view); !diff.empty()) {
    write_diff(diff, experiment, writer);
  }
}

// Slot and ns, in the order in which they were taken.
void write_samples(const std::vector<Round>& rounds, Writer& writer) {
  report::Table table{{"stage", "round", "workload", "calls in a sample", "block", "samples"}, {}};
  for (const Round& round : rounds) {
    for (const RoundWorkload& workload : round.workloads) {
      for (const auto& [kind, blocks] : {std::pair("warm-up", &workload.warmup), std::pair("", &workload.blocks)}) {
        for (const Block& block : *blocks) {
          std::vector<std::string> samples;
          for (const Sample& sample : block.samples) {
            samples.push_back(fmt::format("{}:{}", sample.slot, sample.ns));
          }
          table.rows.push_back(
              {to_string(round.stage), round.index, workload.workload, workload.repetitions, kind, join(samples, " ")});
        }
      }
    }
  }
  writer.heading(2, "samples (slot:ns, in the order they were taken)");
  writer.table(table);
}

void write_logs(const Experiment& experiment, Writer& writer) {
  writer.heading(2, "candidate build log");
  writer.code_block(experiment.candidate_build.log);
  writer.heading(2, "incumbent build log");
  writer.code_block(experiment.incumbent_build.log);
}

// As it is in the file.
std::string source_text(const Variant& variant) {
  std::string text = "\n" + paint("source", "bold") + "\n" + variant.source;
  for (const SourceFile& header : variant.headers) {
    text += "\n" + paint("header " + header.name, "bold") + "\n" + readable_text(header);
  }
  return text;
}

std::string text_of(const ExperimentView& view, const ShowOptions& options) {
  return terminal_text([&](Writer& writer) {
           write_experiment(view, writer);
           if (options.samples) {
             write_samples(view.experiment.rounds, writer);
           }
         }) +
         (options.source ? source_text(view.candidate.value_or(Variant{})) : "") +
         (options.log ? terminal_text([&](Writer& writer) { write_logs(view.experiment, writer); }) : "");
}

int show_experiment(std::int64_t id, const ShowOptions& options, const Globals& globals) {
  Journal journal = Journal::open(make_paths(globals.journal).journal, Access::read_only);
  const ExperimentView view = load_view(journal, id);
  print_answer(globals, experiment_document(view, options), text_of(view, options));
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
  Json document = to_document(variant);
  const std::string& tolerance = workspace.family(variant.family).declared_tolerance;
  document["declared_tolerance"] = tolerance;
  if (options.source) {
    document["source"] = variant.source;
    document["headers"] = headers_document(variant);
  }
  print_answer(globals, document,
               paint(variant.id(), "bold") + "\n" + describe_variant(variant) +
                   (tolerance.empty() ? "" : "tolerance of the family's file: " + tolerance + "\n") +
                   (options.source ? source_text(variant) : ""));
  return kDone;
}

int show_comparison(std::int64_t id, const ShowOptions& options, const Globals& globals) {
  if (options.samples || options.log || options.source) {
    throw UserError("comparison " + options.what + " is not of two variants: it has no samples, source or log",
                    "without these options 'apo show' prints every run");
  }
  Journal journal = Journal::open(make_paths(globals.journal).journal, Access::read_only);
  const ProgramComparison comparison = load_comparison(journal, id);
  print_answer(globals, to_document_with_runs(comparison), comparison_in_full(comparison));
  return kDone;
}

int show(const ShowOptions& options, const Globals& globals) {
  if (!options.diff.empty()) {
    if (options.what.find('/') == std::string::npos) {
      throw UserError("--diff needs a variant FAMILY/NAME, not '" + options.what + "'",
                      "'apo show' of an accepted experiment has its difference; 'apo list' shows the variants");
    }
    return show_diff(options.what, options.diff, globals);
  }
  if (const auto comparison = comparison_number(options.what)) {
    return show_comparison(*comparison, options, globals);
  }
  const auto id = parse_int(options.what);
  return id ? show_experiment(*id, options, globals) : show_variant(options, globals);
}

}  // namespace

Action define_show(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ShowOptions>();
  app.add_option("what", options->what,
                 "number of an experiment, c and the number of a comparison of commands or by an application, or a "
                 "variant FAMILY/NAME")
      ->required();
  auto* samples = app.add_flag("--samples", options->samples, "print every timed sample of the experiment");
  auto* source = app.add_flag("--source", options->source, "print the source");
  auto* log = app.add_flag("--log", options->log, "print the compiler's log");
  auto* diff = app.add_option("--diff", options->diff,
                              "print what the variant (or a configuration of it) changes in this other one")
                   ->expected(0, 1)
                   ->default_str(kParent);
  exclude(diff, {samples, source, log});
  return [options, &globals] { return show(*options, globals); };
}

}  // namespace apo
