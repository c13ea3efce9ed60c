// harness/cli/bring/export.cpp - `apo export --dispatch`: the accepted configurations as a table that a training code
// includes.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/app.h"
#include "harness/cli/bring/dispatch_document.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/export/dispatch_header.h"
#include "harness/loop/export/dispatch_sources.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"

namespace apo {
namespace {

struct ExportOptions {
  DispatchRequest request;
  bool dispatch = false;
  bool with_sources = false;
  std::string output;
};

std::string speedup_text(const DispatchEvidence& evidence) {
  const Judgement& judgement = evidence.judgement;
  return format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper()).all() + " over " +
         evidence.replaced.label();
}

void print_tables(const Dispatch& dispatch) {
  std::vector<std::vector<std::string>> rows = {{"family", "device", "class", "configuration", "evidence"}};
  for (const DispatchTable& table : dispatch.tables) {
    for (const DispatchDevice& device : table.devices) {
      for (const DispatchRow& row : device.rows) {
        rows.push_back(
            {table.family->name, device.machine.model, row.workload_class.empty() ? "fallback" : row.workload_class,
             Configuration{.variant = row.variant.id(), .settings = row.settings}.label(),
             row.measured
                 ? "experiment " + std::to_string(row.measured->experiment) + ": " + speedup_text(*row.measured)
                 : kUnmeasured});
      }
    }
  }
  print(format_table(rows));
}

std::vector<NamedText> files_of(const Dispatch& dispatch, bool with_sources) {
  std::vector<NamedText> files = {{"dispatch.json", json_text(to_document(dispatch))}};
  for (const DispatchTable& table : dispatch.tables) {
    files.push_back({dispatch_header_name(*table.family), dispatch_header(table)});
    if (with_sources) {
      std::vector<NamedText> sources = dispatch_sources(table);
      files.insert(files.end(), std::make_move_iterator(sources.begin()), std::make_move_iterator(sources.end()));
    }
  }
  return files;
}

int export_dispatch(const ExportOptions& options, const Globals& globals) {
  if (!options.dispatch) {
    throw UserError("nothing to export", "'apo export --dispatch --output FOLDER' writes the dispatch table");
  }
  if (options.output == "-") {
    throw UserError("--output - is not a folder",
                    "export writes several files: name a folder, or print the table with --json");
  }
  if (options.output.empty() && !globals.json) {
    throw UserError("--output is missing", "name the folder to write to, or print the table with --json");
  }
  Workspace workspace(make_paths(globals.journal));
  if (!options.request.family.empty()) {
    workspace.family(options.request.family);
  }
  Journal journal = Journal::open(workspace.paths().journal, Access::read_only);
  const Dispatch dispatch = load_dispatch(journal, workspace.catalogue(), options.request);
  std::vector<NamedText> files = files_of(dispatch, options.with_sources);
  if (!options.output.empty()) {
    for (NamedText& file : files) {
      file.path = options.output / file.path;
    }
    write_files_atomically(files);
  }
  if (globals.json) {
    print_json(to_document(dispatch));
    return kDone;
  }
  for (const DispatchGap& gap : dispatch.gaps) {
    std::fprintf(stderr, "apo: no row for %s class %s on %s: %s\n", gap.family.c_str(), gap.workload_class.c_str(),
                 gap.machine.c_str(), gap.why.c_str());
  }
  print_tables(dispatch);
  for (const NamedText& file : files) {
    print(file.path.string() + "\n");
  }
  return kDone;
}

}  // namespace

Action define_export(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ExportOptions>();
  app.add_flag("--dispatch", options->dispatch,
               "write the dispatch table: dispatch.json and one C++17 header a family");
  app.add_option("family", options->request.family, "kernel family (default: all in the journal)");
  app.add_option("--device", options->request.device, "id or model of the device (default: all in the journal)");
  app.add_option("--output", options->output, "write to this folder");
  app.add_option("--fallback", options->request.fallbacks,
                 "variant for sizes without a measured row, marked as unmeasured; may repeat, first match wins")
      ->allow_extra_args(false);
  app.add_flag("--with-sources", options->with_sources,
               "write the sources and argument headers too; their constants come from -DAPO_<name>=<value>");
  return [options, &globals] { return export_dispatch(*options, globals); };
}

}  // namespace apo
