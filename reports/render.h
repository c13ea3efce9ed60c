// reports/render.h - the formats of a report. Each is a pure function: the same model gives the same bytes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model.h"

namespace apo::report {

enum class Format { markdown, html, json, csv };

std::optional<Format> format_from(std::string_view word);  // "markdown", "md", "html", "json", "csv"
std::vector<std::string> format_names();

// "report.md", "report.html", "report.json", "experiments.csv".
std::string report_file(Format format);

// Plot name -> path relative to the report; a plot that is not in it is left out.
using PlotPaths = std::map<std::string, std::string>;

std::string render_markdown(const ReportModel& model, const PlotPaths& plots);
std::string render_html(const ReportModel& model);  // one file, plots inline, nothing loaded
std::string render_json(const ReportModel& model);  // lossless text; null where nothing was measured
std::string render_csv(const ReportModel& model);   // the experiments, RFC 4180; empty where nothing was measured
// markdown with no plots, or the format's only file: for standard output.
std::string render(const ReportModel& model, Format format);

// Writes report.md and plots/*.svg, report.html, report.json or experiments.csv into the folder, which is made when
// absent; every file is whole or absent. Returns the paths, the report's own first.
std::vector<std::filesystem::path> write_report(const ReportModel& model, Format format,
                                                const std::filesystem::path& folder);

// A page of its own about comparisons of two commands, with their rounds, in order. Throws UserError for csv.
std::string render_commands(const std::vector<ProgramComparison>& comparisons, Format format);

}  // namespace apo::report
