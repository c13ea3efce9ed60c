// harness/cli/bring/export.cpp - `apo export --dispatch`: the accepted configurations as a table that a training code
// includes; `apo export --torch`: as an op of PyTorch.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/system/files.h"
#include "harness/core/system/machine.h"
#include "harness/core/text.h"
#include "harness/exchange/exchange.h"
#include "harness/families/known_families.h"
#include "harness/loop/export/dispatch.h"
#include "harness/loop/export/dispatch_document.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/incumbents.h"
#include "journal/journal.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

struct ExportOptions {
  DispatchRequest request;
  bool dispatch = false;
  bool torch = false;  // with the dispatch table
  bool with_sources = false;
  bool on_this_device = false;
  std::string output;
};

std::string evidence_text(const DispatchRow& row) {
  if (!row.measured) {
    return statement_of(row);
  }
  const Ratio ratio = ratio_of(*row.measured);
  return fmt::format("{}: experiment {}, {} over {}", statement_of(row), row.measured->experiment,
                     format_interval(ratio.middle, ratio.lower, ratio.upper).all(), row.measured->other.label());
}

void print_tables(const Dispatch& dispatch) {
  std::vector<std::vector<std::string>> rows = {{"family", "devices", "class", "configuration", "evidence"}};
  for (const DispatchTable& table : dispatch.tables) {
    for (const DispatchRow* row : all_rows(table)) {
      rows.push_back({table.family->name, row->devices, row->workload_class.empty() ? "fallback" : row->workload_class,
                      configuration_of(*row).label(), evidence_text(*row)});
    }
  }
  print(format_table(rows));
}

void tell_refused(const RefusedIncumbent& one) {
  const Incumbent& incumbent = one.incumbent;
  std::fprintf(stderr, "apo: %s, %s class %s on %s: its application refused %s (%s); 'apo show c%lld' tells why%s\n",
               one.exported ? "exported" : "left out", incumbent.family.c_str(), incumbent.workload_class.c_str(),
               incumbent.machine.c_str(), incumbent.configuration.label().c_str(),
               std::string(to_string(one.refusal.reason)).c_str(), static_cast<long long>(one.refusal.comparison),
               one.exported ? "" : ", --refused exports it all the same");
}

// The op has outputs that the caller does not own, and one right value.
void require_pure(const Family& family) {
  const char* what = updates_in_place(family) ? "tensors that a call reads and writes (apo:inout)"
                     : family.alternatives    ? "random outputs (apo:random)"
                                              : nullptr;
  if (what != nullptr) {
    throw UserError(fmt::format("{} has {}, which an op of PyTorch has no form for", family.name, what),
                    "'apo export --dispatch' exports it");
  }
}

std::vector<NamedText> files_of(const Dispatch& dispatch, const ExportOptions& options, const fs::path& home) {
  std::vector<NamedText> files = dispatch_files(dispatch, options.with_sources || options.torch);
  for (const DispatchTable& table : dispatch.tables) {
    if (options.torch) {
      require_pure(*table.family);
      std::ranges::move(torch_files(table, home, static_cast<int>(usable_cpus().size())), std::back_inserter(files));
    }
  }
  return files;
}

int export_dispatch(const ExportOptions& options, const Globals& globals) {
  if (!options.dispatch && !options.torch) {
    throw UserError("nothing to export",
                    "'apo export --dispatch --output FOLDER' writes the dispatch table, 'apo export --torch FAMILY "
                    "--output FOLDER' an op of PyTorch");
  }
  if (options.output == "-") {
    throw UserError("--output - is not a folder",
                    "export writes several files: name a folder, or print the table with --json");
  }
  if (options.output.empty() && (options.torch || !globals.json)) {
    throw UserError("--output is missing", options.torch
                                               ? "name the folder to write to"
                                               : "name the folder to write to, or print the table with --json");
  }
  Workspace workspace(make_paths(globals.journal));
  if (!options.request.family.empty()) {
    workspace.family(options.request.family);
  }
  // Fallbacks are not measured: without a journal an empty one stands in.
  const TemporaryFolder folder;
  const bool is_empty =
      !options.request.fallbacks.empty() && globals.journal.empty() && is_absent(workspace.paths().journal);
  Journal journal = is_empty ? Journal::open(folder.path() / "empty.db", Access::temporary)
                             : Journal::open(workspace.paths().journal, Access::read_only);
  Dispatch dispatch = load_dispatch(journal, workspace.catalogue(), options.request);
  if (options.on_this_device) {
    Journal writer = Journal::open(workspace.paths().journal, Access::read_write);
    ConsoleObserver observer(globals);
    judge_on_this_machine(workspace, writer, dispatch, observer);
    dispatch = load_dispatch(writer, workspace.catalogue(), options.request);
  }
  std::vector<NamedText> files = files_of(dispatch, options, workspace.paths().home);
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
  std::ranges::for_each(dispatch.refused, tell_refused);
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
               "write the dispatch table: a JSON document and a C++17 header a family");
  app.add_flag("--torch", options->torch,
               "write the dispatch table, its sources, and for each family an op of PyTorch that calls what the table "
               "chose, with a test");
  app.add_option("family", options->request.family, "kernel family of the table or op (default: all in the journal)");
  auto* device =
      app.add_option("--device", options->request.device, "id or model of the device (default: all in the journal)");
  app.add_option("--output", options->output, "write to this folder");
  app.add_flag(
         "--on-this-device", options->on_this_device,
         "first judge the rows that were measured on other devices again on this one, whose rows come first there")
      ->excludes(device);
  app.add_option(
         "--fallback", options->request.fallbacks,
         "variant for what no measured row serves, on every device of its target, marked as unmeasured; may repeat, "
         "first match wins")
      ->allow_extra_args(false);
  app.add_flag("--refused", options->request.refused,
               "also export what the application of its campaign refused; without it the class has what was accepted "
               "before");
  app.add_flag("--unchecked", options->request.unchecked,
               "let measured rows serve their whole class, beyond the sizes on which they were verified; marked so");
  app.add_flag("--with-sources", options->with_sources,
               "write the sources and argument headers too; their constants come from -DAPO_<name>=<value>");
  return [options, &globals] { return export_dispatch(*options, globals); };
}

}  // namespace apo
