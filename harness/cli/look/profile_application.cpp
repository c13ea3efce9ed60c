// harness/cli/look/profile_application.cpp - runs the command and keeps and prints the profile of its GPU time.
#include "harness/cli/look/profile_application.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "harness/applications/run_application.h"
#include "harness/cli/console.h"
#include "harness/cli/terminal.h"
#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/profile/application/application_summary.h"
#include "journal/facts/applications.h"
#include "journal/facts/machines.h"
#include "journal/journal.h"
#include "reports/numbers.h"

namespace apo {
namespace {

using report::Writer;

Categories categories_of(const ApplicationOptions& options) {
  return options.categories.empty() ? Categories::for_pytorch()
                                    : Categories::from_json(read_file(options.categories), options.categories);
}

// The GPU, asked only when it was used: that takes a second and needs CUDA.
Machine machine_of(Workspace& workspace, const ApplicationSummary& summary) {
  if (summary.total_ns > 0 && workspace.has_gpu()) {
    workspace.use(Target::cuda);
  }
  return workspace.machine();
}

// A journal that cannot be written must not cost the result of an hour's run. 0 when it is not kept.
std::int64_t keep(ApplicationProfile& profile, const ApplicationSummary& summary, const Globals& globals) {
  try {
    const Paths paths = make_paths(globals.journal);
    Journal journal = Journal::open(paths.journal, Access::read_write);
    Workspace workspace(paths);
    const Machine here = machine_of(workspace, summary);
    profile.device = here.target == Target::cuda ? here.model : "";
    add_machine(journal, here);
    return add_application(journal, profile, summary, here.id);
  } catch (const UserError& error) {
    profile.notes.push_back(std::string("not kept in the journal: ") + error.what());
  } catch (const EnvironmentError& error) {
    profile.notes.push_back(std::string("not kept in the journal: ") + error.what());
  }
  return 0;
}

std::string end_of_command(const ApplicationProfile& profile) {
  return profile.signal != 0       ? ", ended by " + signal_name(profile.signal)
         : !profile.exit_code      ? ""
         : *profile.exit_code == 0 ? ""
                                   : fmt::format(", exit code {}", *profile.exit_code);
}

std::string ns_text(std::int64_t ns) {
  return format_ns(static_cast<double>(ns));
}

void write_gaps(const ApplicationSummary& summary, Writer& writer) {
  report::Table table{{"idle for", "times", "total", "of the span"}, {}};
  for (std::size_t i = 0; i < summary.gaps.size(); ++i) {
    const Gaps& gaps = summary.gaps[i];
    if (gaps.count > 0) {
      table.rows.push_back({i < kGapLimits.size() ? "up to " + ns_text(kGapLimits[i]) : "longer", gaps.count,
                            ns_text(gaps.ns),
                            report::percent_text(static_cast<double>(gaps.ns) / static_cast<double>(summary.span_ns))});
    }
  }
  if (!table.rows.empty()) {
    writer.heading(2, "gaps, the longest of them " + ns_text(summary.longest_gap_ns));
    writer.table(table);
  }
}

template <class Row>
std::span<const Row> first_rows(const std::vector<Row>& rows) {
  constexpr std::size_t kMostRows = 40;
  return std::span(rows).first(std::min(rows.size(), kMostRows));
}

// Kernels by time, copies and fills, categories, ranges, gaps, and what is missing from the numbers.
void write_application(const ApplicationProfile& profile, const ApplicationSummary& summary, Writer& writer) {
  writer.heading(1, profile.command + end_of_command(profile) +
                        (profile.seconds > 0 ? ", " + format_seconds(profile.seconds) : "") +
                        (profile.device.empty() ? "" : ", " + profile.device));
  if (summary.total_ns == 0) {
    writer.paragraph("nothing was launched on a GPU");
  } else {
    writer.paragraph("GPU work " + ns_text(summary.total_ns) +
                     (summary.span_ns > 0
                          ? fmt::format("; busy {} of {} from first to last, idle {}", ns_text(summary.busy_ns),
                                        ns_text(summary.span_ns), report::percent_text(summary.idle_share()))
                          : ""));
    std::vector<WorkRow> work(summary.work.begin(), summary.work.begin() + std::ssize(first_rows(summary.work)));
    for (WorkRow& row : work) {  // template arguments may go on for pages; --json has the whole name
      row.work.name = cut_middle(row.work.name, "...", [](const std::string& name) { return name.size() <= 90; });
    }
    write_work(work, std::ssize(summary.work), summary.categories, writer);
    writer.paragraph("ceiling: how much faster the GPU's work as a whole could get if this took no time");
    std::vector<RangeRow> ranges = summary.ranges;
    std::erase_if(ranges, [](const RangeRow& row) { return row.calls == 0; });  // --json has them
    write_ranges(first_rows(ranges), std::ssize(ranges), writer);
    write_gaps(summary, writer);
  }
  for (const std::string& note : profile.notes) {
    writer.paragraph("note: " + note);
  }
}

// Sums up, prints and stores the profile.
int show_application(ApplicationProfile profile, const ApplicationOptions& options, const Globals& globals) {
  const ApplicationSummary summary = summarise(profile, categories_of(options));
  const std::int64_t id = keep(profile, summary, globals);
  std::string text;
  if (globals.json) {
    nlohmann::ordered_json document = {{"format", kRecordsFormat},
                                       {"profile", id == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(id)}};
    document.update(to_document(profile, summary));
    text = json_text(document);
  } else {
    text = terminal_text([&](Writer& writer) { write_application(profile, summary, writer); }) +
           (id == 0 ? "" : fmt::format("application profile {} in the journal\n", id));
  }
  if (options.output.empty()) {
    print(text);
  } else {
    write_file_atomically(options.output, text);
  }
  return kDone;
}

}  // namespace

void add_application_options(CLI::App& app, ApplicationOptions& options) {
  app.add_option("--categories", options.categories,
                 "JSON file with name patterns that group kernels (default: patterns for PyTorch)");
  app.add_option("--output", options.output, "write the application's profile to this file");
}

int profile_application(const std::vector<std::string>& command, const ApplicationOptions& options,
                        const Globals& globals) {
  if (command.empty()) {
    throw UserError("there is no command after '--'", "write for example 'apo profile -- python3 train.py'");
  }
  // Mistakes are told before the command runs, not an hour later.
  categories_of(options);
  if (!options.output.empty()) {
    check_writable(options.output);
  }
  // With --json, standard output holds one document and nothing else.
  const bool output_to_stderr = globals.json && options.output.empty();
  const ApplicationProfile profile = run_application(command, output_to_stderr);
  const int shown = show_application(profile, options, globals);
  if (profile.signal != 0 || profile.exit_code.value_or(0) != 0) {
    throw UserError(profile.signal != 0 ? "the command was ended by " + signal_name(profile.signal)
                                        : fmt::format("the command failed with exit code {}", *profile.exit_code),
                    "its profile up to there is shown and kept");
  }
  return shown;
}

}  // namespace apo
