// reports/commands_page.cpp - the page in three formats.
#include "reports/commands_page.h"

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "reports/formats/pages.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTitle = "Commands";

void write_page(const std::vector<ProgramComparison>& comparisons, Writer& writer) {
  writer.heading(1, {plain(kTitle)});
  if (comparisons.empty()) {
    writer.lead({strong("Nothing to report: "), plain("no two commands were compared.")});
    return;
  }
  writer.lead({strong(counted(comparisons.size(), "comparison") + " of two commands. ")});
  write_comparisons(comparisons, writer);
}

}  // namespace

std::string render_commands(const std::vector<ProgramComparison>& comparisons, Format format) {
  const auto write = [&](Writer& writer) { write_page(comparisons, writer); };
  switch (format) {
    case Format::markdown:
      return markdown_page({}, {}, write);
    case Format::html:
      return html_page(kTitle, {}, write);
    case Format::csv:
      throw UserError("a page of comparisons has no form as csv",
                      "'apo query --csv --sql \"SELECT * FROM command_comparisons\"' prints their table");
    case Format::json:
      break;
  }
  const Json document = {{"format", kRecordsFormat},
                         {"document", "commands"},
                         {"comparisons", list_of(comparisons, to_document_with_runs)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace apo::report
