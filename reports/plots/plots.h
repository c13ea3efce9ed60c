// reports/plots/plots.h - the plots of a report, as SVG; an empty string where nothing was measured to plot.
#pragma once

#include <string>
#include <vector>

#include "reports/model.h"

namespace apo::report {

// Step line of the incumbent's naive cumulative speed-up, a mark for every judged candidate, the certified claim beside
// it.
std::string trajectory_plot(const ReportModel& model);
// One row an experiment: predicted band, measured effect with its interval, verdict by shape and colour, a line at 1x.
std::string effects_plot(const ReportModel& model);
// One row a benchmark that was timed, the geometric mean among them: interval, finding by shape and colour, a line at
// 1x.
std::string suite_plot(const std::vector<Figure>& figures);
// Log-log: measured roofs, the first and last incumbents' points, and the floor above each.
std::string roofline_plot(const ReportModel& model);

struct NamedPlot {
  std::string name;  // "trajectory", "effects", "roofline"
  std::string title;
  std::string svg;
};

// The plots that have something to show, in the order of the report.
std::vector<NamedPlot> draw_plots(const ReportModel& model);

}  // namespace apo::report
