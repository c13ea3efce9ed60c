// harness/cli/look/show.cpp - `apo show`: prints one experiment, comparison or variant in full.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/comparison_text.h"
#include "harness/cli/console.h"
#include "harness/cli/look/experiment_text.h"
#include "harness/cli/look/variant_text.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/loop/replay/reproduction.h"
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

// The layout of its rounds, else of its campaign; nullopt where neither is known.
std::optional<Layout> layout_of(Journal& journal, const Experiment& experiment) {
  for (const Round& round : experiment.rounds) {
    if (round.environment.layout) {
      return round.environment.layout;
    }
  }
  const auto campaign = journal.campaign(experiment.campaign);
  return campaign ? campaign->policy.layout : std::nullopt;
}

std::vector<Bottleneck> bottlenecks_of(Journal& journal, const Experiment& experiment) {
  return experiment.iteration == 0 ? std::vector<Bottleneck>{} : journal.brief(experiment.iteration).bottlenecks;
}

std::string why_abandoned(Journal& journal, const Experiment& experiment) {
  const auto abandoned = journal.abandoned_experiments(experiment.campaign);
  const auto found = abandoned.find(experiment.id);
  if (found != abandoned.end()) {
    return found->second;
  }
  const std::vector<Unfinished> interrupted = journal.interrupted_experiments();
  return std::ranges::any_of(interrupted, [&](const Unfinished& one) { return one.id == experiment.id; })
             ? "the run that measured it was interrupted"
             : "";
}

// The experiments that measured it again.
std::vector<Experiment> replays_of(Journal& journal, const Experiment& experiment) {
  std::vector<Experiment> again;
  for (const ReplayRow& row : journal.replays_of(experiment.id)) {
    again.push_back(journal.load_experiment(row.experiment, Detail::summary));
  }
  return again;
}

// Certifications of the experiment's candidate as its campaign's final incumbent.
std::vector<Certification> certifications_of(Journal& journal, const Experiment& experiment) {
  std::vector<Certification> result;
  if (experiment.campaign != 0 && experiment.judgement && experiment.judgement->verdict == Verdict::accepted) {
    result = journal.certifications(experiment.campaign);
    std::erase_if(result, [&](const Certification& one) { return !(one.incumbent == experiment.candidate); });
  }
  return result;
}

std::string device_of(Journal& journal, const Experiment& experiment) {
  const auto worker = journal.worker_of(experiment.id);
  return worker ? worker->device : "";
}

ExperimentView load_view(Journal& journal, std::int64_t id) {
  const Experiment experiment = journal.load_experiment(id);
  return {.experiment = experiment,
          .layout = layout_of(journal, experiment),
          .device = device_of(journal, experiment),
          .abandoned = why_abandoned(journal, experiment),
          .bottlenecks = bottlenecks_of(journal, experiment),
          .certifications = certifications_of(journal, experiment),
          .measures_again = journal.replay(experiment.id),
          .replays = replays_of(journal, experiment),
          .candidate = journal.variant(experiment.candidate_source_hash),
          .incumbent = journal.variant(experiment.incumbent_source_hash)};
}

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

std::string text_of(const ExperimentView& view, const ShowOptions& options) {
  return experiment_text(view) + (options.samples ? samples_text(view.experiment.rounds) : "") +
         (options.source ? source_text(view.candidate.value_or(Variant{})) : "") +
         (options.log ? logs_text(view.experiment) : "");
}

int show_experiment(std::int64_t id, const ShowOptions& options, const Globals& globals) {
  Journal journal = Journal::open(make_paths(globals.journal).journal, Access::read_only);
  const ExperimentView view = load_view(journal, id);
  if (globals.json) {
    print_json(experiment_document(view, options));
  } else {
    print(text_of(view, options));
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

int show_comparison(std::int64_t id, const ShowOptions& options, const Globals& globals) {
  if (options.samples || options.log || options.source) {
    throw UserError("comparison " + options.what + " is not of two variants: it has no samples, source or log",
                    "without these options 'apo show' prints every run");
  }
  Journal journal = Journal::open(make_paths(globals.journal).journal, Access::read_only);
  const ProgramComparison comparison = journal.load_comparison(id);
  if (globals.json) {
    print_json(to_document_with_runs(comparison));
  } else {
    print(comparison_in_full(comparison));
  }
  return kDone;
}

int show(const ShowOptions& options, const Globals& globals) {
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
  app.add_flag("--samples", options->samples, "print every timed sample of the experiment");
  app.add_flag("--source", options->source, "print the source");
  app.add_flag("--log", options->log, "print the compiler's log");
  return [options, &globals] { return show(*options, globals); };
}

}  // namespace apo
