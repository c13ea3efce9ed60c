// reports/write.cpp - puts a report's files into a folder.
#include <system_error>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "reports/plots/plots.h"
#include "reports/render.h"

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

}  // namespace apo::report
