// reports/write.cpp - puts a report's files into a folder, and makes the page about two commands.
#include <fmt/format.h>

#include <system_error>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "reports/formats/pages.h"
#include "reports/plots/plots.h"
#include "reports/render.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw UserError("cannot make the folder '" + folder.string() + "': " + error.message(),
                    "name another folder for the report");
  }
}

constexpr const char* kCommandsTitle = "Commands";

std::vector<NamedPlot> plots_of(const std::vector<ProgramComparison>& comparisons) {
  std::vector<NamedPlot> plots;
  for (const ProgramComparison& one : comparisons) {
    if (is_suite(one)) {
      plots.push_back({fmt::format("c{}", one.id), "Effect on each benchmark", suite_plot(one.figures)});
    }
  }
  std::erase_if(plots, [](const NamedPlot& plot) { return plot.svg.empty(); });
  return plots;
}

void write_commands(const std::vector<ProgramComparison>& comparisons, Writer& writer) {
  writer.heading(1, kCommandsTitle);
  if (comparisons.empty()) {
    writer.lead({strong("Nothing to report: "), "no two commands were compared."});
    return;
  }
  writer.lead({strong(counted(comparisons.size(), "comparison") + " of two commands.")});
  write_comparisons(comparisons, writer);
}

}  // namespace

std::string render(const ReportModel& model, Format format) {
  switch (format) {
    case Format::markdown:
      return render_markdown(model, {});
    case Format::html:
      return render_html(model);
    case Format::json:
      break;
  }
  return render_json(model);
}

std::string report_file(Format format) {
  return "report." + (format == Format::markdown ? "md" : std::string(to_string(format)));
}

std::vector<std::filesystem::path> write_report(const ReportModel& model, Format format,
                                                const std::filesystem::path& folder) {
  make_folder(folder);
  std::vector<std::filesystem::path> paths = {folder / report_file(format)};
  if (format != Format::markdown) {
    write_file_atomically(paths.front(), render(model, format));
    return paths;
  }
  // The plots first: a report never points at a plot that is not there.
  PlotPaths plots;
  for (const NamedPlot& plot : draw_plots(model)) {
    const std::string relative = "plots/" + plot.name + ".svg";
    make_folder(folder / "plots");
    write_file_atomically(folder / relative, plot.svg);
    plots[plot.name] = relative;
    paths.push_back(folder / relative);
  }
  write_file_atomically(paths.front(), render_markdown(model, plots));
  return paths;
}

std::string render_suite_summary(const ProgramComparison& comparison) {
  return markdown_page({}, {}, [&](Writer& writer) { write_suite_summary(comparison, writer); });
}

std::string render_commands(const std::vector<ProgramComparison>& comparisons, Format format) {
  const auto write = [&](Writer& writer) { write_commands(comparisons, writer); };
  switch (format) {
    case Format::markdown:
      return markdown_page({}, {}, write);
    case Format::html:
      return html_page(kCommandsTitle, plots_of(comparisons), write);
    case Format::json:
      break;
  }
  const nlohmann::ordered_json document = {{"format", kRecordsFormat},
                                           {"document", "commands"},
                                           {"comparisons", list_of(comparisons, to_document_with_runs)}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace apo::report
