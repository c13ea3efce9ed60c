// reports/index.h - one page over many campaigns, by device, with a link to the report of each.
#pragma once

#include <string>
#include <vector>

#include "reports/render.h"

namespace apo::report {

struct IndexEntry {
  std::string journal;  // its file, for people
  std::string link;     // to the campaign's report, relative to the index
  ReportModel model;
};

// Renders markdown or HTML.
std::string render_index(const std::vector<IndexEntry>& entries, Format format);

// Writes the report of each entry where its link says, then index.md or index.html. Returns the path of that one.
std::filesystem::path write_index(const std::vector<IndexEntry>& entries, Format format,
                                  const std::filesystem::path& folder);

}  // namespace apo::report
