// reports/render.h - the formats of a report. Each is a pure function: the same model gives the same bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/core/words.h"
#include "reports/model.h"

namespace apo::report {

enum class Format { markdown, html, json };
APO_WORDS(Format, format_named, markdown, html, json)

// "report.md", "report.html", "report.json".
std::string report_file(Format format);

// Plot name -> path relative to the report; a plot that is not in it is left out.
using PlotPaths = std::map<std::string, std::string>;

std::string render_markdown(const ReportModel& model, const PlotPaths& plots);
std::string render_html(const ReportModel& model);  // one file, plots inline, nothing loaded
std::string render_json(const ReportModel& model);  // lossless text; null where nothing was measured
// markdown with no plots, or the format's only file: for standard output.
std::string render(const ReportModel& model, Format format);

// Writes report.md and plots/*.svg, report.html or report.json into the folder, which is made when
// absent; every file is whole or absent. Returns the paths, the report's own first.
std::vector<std::filesystem::path> write_report(const ReportModel& model, Format format,
                                                const std::filesystem::path& folder);

// Renders a page of its own about comparisons of two commands, with their rounds, in order.
std::string render_commands(const std::vector<ProgramComparison>& comparisons, Format format);

// Renders a judged suite of benchmarks as markdown for a pull request.
std::string render_suite_summary(const ProgramComparison& comparison);

}  // namespace apo::report
