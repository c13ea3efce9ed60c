// harness/cli/look/report.cpp - `apo report`: writes the report of a campaign as markdown, HTML, JSON or CSV.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/cli/app.h"
#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/journal.h"
#include "reports/load.h"
#include "reports/render.h"

namespace apo {
namespace {

struct ReportOptions {
  std::optional<std::int64_t> campaign;
  std::string format = "markdown";
  std::string output;
};

report::Format format_of(const std::string& word) {
  const auto format = report::format_from(word);
  if (!format) {
    const std::string guess = did_you_mean(word, report::format_names());
    throw UserError("unknown format '" + word + "'",
                    (guess.empty() ? "" : guess + "\n") + "known: " + join(report::format_names(), ", "));
  }
  return *format;
}

int write(const ReportOptions& options, const Globals& globals) {
  const report::Format format = globals.json ? report::Format::json : format_of(options.format);
  const Paths paths = make_paths(globals.journal);
  Journal journal = Journal::open(paths.journal, Access::read_only);
  const std::int64_t campaign = options.campaign ? *options.campaign : report::newest_campaign(journal);
  const report::ReportModel model = report::load_model(journal, campaign);
  if (options.output == "-" || (globals.json && options.output.empty())) {
    print(report::render(model, format));
    return kDone;
  }
  const std::filesystem::path folder = options.output.empty() ? paths.reports / ("campaign-" + std::to_string(campaign))
                                                              : std::filesystem::path(options.output);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(folder, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    throw UserError("--output '" + folder.string() + "' is a file", "name a folder, or - for standard output");
  }
  const auto written = report::write_report(model, format, folder);
  if (globals.json) {
    print_json({{"campaign", campaign}, {"path", written.front().string()}});
  } else {
    print(written.front().string() + "\n");
  }
  return kDone;
}

}  // namespace

Action define_report(CLI::App& app, Globals& globals) {
  const auto options = std::make_shared<ReportOptions>();
  app.add_option("--campaign", options->campaign, "number of the campaign (default: the newest)");
  app.add_option("--format", options->format, "markdown, html, json or csv");
  app.add_option("--output", options->output, "write to this folder, or to standard output with -");
  return [options, &globals] { return write(*options, globals); };
}

}  // namespace apo
