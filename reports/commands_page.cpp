// reports/commands_page.cpp - the page in three formats.
#include "reports/commands_page.h"

#include <system_error>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "reports/formats/pages.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kCommandsTitle = "Commands";

void write_page(const std::vector<CommandComparison>& comparisons, Writer& writer) {
  writer.heading(1, {plain(kCommandsTitle)});
  if (comparisons.empty()) {
    writer.lead({strong("Nothing to report: "), plain("no two commands were compared.")});
    return;
  }
  writer.lead(
      {strong(counted(comparisons.size(), "comparison") + " of two commands. "),
       plain("A round is one fresh run of each or more, in drawn order. Nothing is known of their correctness but what "
             "the named check says.")});
  write_command_table(comparisons, writer);
  for (const CommandComparison& comparison : comparisons) {
    write_command_comparison(comparison, writer);
  }
}

}  // namespace

std::string render_commands(const std::vector<CommandComparison>& comparisons, Format format) {
  const auto write = [&](Writer& writer) { write_page(comparisons, writer); };
  switch (format) {
    case Format::markdown:
      return markdown_page({}, {}, write);
    case Format::html:
      return html_page(kCommandsTitle, {}, write);
    case Format::json:
      break;
  }
  const Json document = {{"format", kRecordsFormat},
                         {"document", "commands"},
                         {"comparisons", list_of(comparisons, to_document_with_runs)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::filesystem::path write_commands_page(const std::vector<CommandComparison>& comparisons, Format format,
                                          const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw UserError("cannot make the folder '" + folder.string() + "': " + error.message(),
                    "name another folder for the report");
  }
  const char* ending = format == Format::markdown ? "md" : format == Format::html ? "html" : "json";
  const std::filesystem::path path = folder / (std::string("commands.") + ending);
  write_file_atomically(path, render_commands(comparisons, format));
  return path;
}

}  // namespace apo::report
