// harness/cli/look/report.cpp - `apo report`: writes the report of a campaign as markdown, HTML or JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/campaigns.h"
#include "journal/facts/comparisons.h"
#include "journal/journal.h"
#include "reports/load.h"
#include "reports/render.h"

namespace apo {
namespace {

struct ReportOptions {
  std::optional<std::int64_t> campaign;
  std::string format = "markdown";
  std::string output;
  bool commands = false;
};

report::Format format_of(const std::string& word) {
  return checked_value<report::Format>("format", word == "md" ? "markdown" : word, "");
}

int write_commands(const ReportOptions& options, const Globals& globals) {
  const report::Format format = globals.json ? report::Format::json : format_of(options.format);
  const Paths paths = make_paths(globals.journal);
  Journal journal = Journal::open(paths.journal, Access::read_only);
  std::vector<ProgramComparison> comparisons = all_comparisons(journal, Detail::rounds);
  std::erase_if(comparisons, [](const ProgramComparison& one) { return one.kind != ComparisonKind::commands; });
  const std::string page = report::render_commands(comparisons, format);
  if (options.output == "-" || (globals.json && options.output.empty())) {
    print(page);
    return kDone;
  }
  const std::filesystem::path folder = options.output.empty() ? paths.reports : std::filesystem::path(options.output);
  const std::filesystem::path written =
      folder / ("commands" + std::filesystem::path(report::report_file(format)).extension().string());
  std::error_code error;  // a folder that cannot be made is one that cannot be written into
  std::filesystem::create_directories(folder, error);
  write_file_atomically(written, page);
  print_answer(globals, {{"comparisons", comparisons.size()}, {"path", written.string()}}, written.string() + "\n");
  return kDone;
}

// Which campaign was chosen, where there are others.
std::string choice_text(Journal& journal, std::int64_t chosen) {
  const std::vector<Campaign> campaigns = all_campaigns(journal);
  const auto campaign = std::ranges::find(campaigns, chosen, &Campaign::id);
  if (campaigns.size() < 2 || campaign == campaigns.end()) {
    return "";
  }
  return fmt::format(
      "campaign {} of {} in this journal: {} on {}, begun {}\n"
      "--campaign NUMBER chooses another\n",
      chosen, campaigns.size(), campaign->policy.family, join(campaign->policy.workloads, ", "), campaign->started_at);
}

int write(const ReportOptions& options, const Globals& globals) {
  if (options.commands) {
    return write_commands(options, globals);
  }
  const report::Format format = globals.json ? report::Format::json : format_of(options.format);
  const Paths paths = make_paths(globals.journal);
  Journal journal = Journal::open(paths.journal, Access::read_only);
  const std::int64_t campaign = options.campaign ? *options.campaign : report::newest_campaign(journal);
  if (!options.campaign && !globals.quiet) {
    std::fputs(choice_text(journal, campaign).c_str(), stderr);
  }
  const report::ReportModel model = report::load_model(journal, campaign);
  if (options.output == "-" || (globals.json && options.output.empty())) {
    print(report::render(model, format));
    return kDone;
  }
  const std::filesystem::path folder = options.output.empty() ? paths.reports / fmt::format("campaign-{}", campaign)
                                                              : std::filesystem::path(options.output);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    throw UserError("--output '" + folder.string() + "' is a file", "name a folder, or - for standard output");
  }
  if (!std::filesystem::exists(status) &&
      folder.extension() == std::filesystem::path(report::report_file(format)).extension()) {
    throw UserError("--output '" + folder.string() + "' is to be a folder",
                    "name it without " + folder.extension().string() + ", or - for standard output and '> " +
                        folder.filename().string() + "'");
  }
  const auto written = report::write_report(model, format, folder);
  print_answer(globals, {{"campaign", campaign}, {"path", written.front().string()}}, written.front().string() + "\n");
  return kDone;
}

}  // namespace

Action define_report(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::Option* campaign =
      app.add_option("--campaign", options->campaign,
                     "number of the campaign (default: the newest of apo run, else of apo try and apo evaluate)");
  app.add_flag("--commands", options->commands, "write a page about all comparisons of two commands")
      ->excludes(campaign);
  app.add_option("--format", options->format, "markdown, html or json; 'apo query --csv' prints experiments as CSV");
  app.add_option("--output", options->output, "write to this folder, or to standard output with -");
  return [options, &globals] { return write(*options, globals); };
}

}  // namespace apo
