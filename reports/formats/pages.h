// reports/formats/pages.h - a document as one page: HTML with its plots inline, or markdown beside its plots.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reports/plots/plots.h"
#include "reports/render.h"
#include "reports/sections/sections.h"

namespace apo::report {

using WriteDocument = std::function<void(Writer&)>;

std::string html_page(const std::string& title, const std::vector<NamedPlot>& plots, const WriteDocument& write);
// Shows the plots that `paths` names.
std::string markdown_page(const std::vector<NamedPlot>& plots, const PlotPaths& paths, const WriteDocument& write);

std::string inline_html(const Line& line);
// "What was left out, and why" -> "what-was-left-out-and-why", as GitHub makes anchors of headings.
std::string slug(const Line& line);

}  // namespace apo::report
