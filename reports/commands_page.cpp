// reports/commands_page.cpp - the page in four formats.
#include "reports/commands_page.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "reports/formats/escape.h"
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

std::string number(double value) {
  if (!std::isfinite(value)) {
    return "";
  }
  std::array<char, 40> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

std::string csv_row(const CommandComparison& one) {
  const Judgement judgement = one.judgement.value_or(Judgement{});
  const bool timed = judgement.rounds > 0;
  const auto when_timed = [&](double value) { return timed ? number(value) : ""; };
  return join({std::to_string(one.id), std::string(to_string(one.purpose)), csv_field(one.started_at),
               csv_field(one.command_a), csv_field(one.command_b), csv_field(one.metric), csv_field(one.correct),
               when_timed(one.value_a), when_timed(one.value_b), when_timed(judgement.speedup()),
               when_timed(judgement.speedup_lower()), when_timed(judgement.speedup_upper()),
               std::to_string(judgement.rounds), one.judgement ? std::string(to_string(one.outcome)) : "",
               verdict_word(one), reason_word(one), csv_field(judgement.sentence), csv_field(judgement.preset),
               csv_field(judgement.rule_version)},
              ",") +
         "\r\n";
}

std::string render_csv_of_commands(const std::vector<CommandComparison>& comparisons) {
  std::string text =
      "id,purpose,started_at,command_a,command_b,metric,correct,value_a,value_b,speedup,lower,upper,rounds,outcome,"
      "verdict,reason,sentence,judge_preset,rule_version\r\n";
  for (const CommandComparison& one : comparisons) {
    text += csv_row(one);
  }
  return text;
}

}  // namespace

std::string render_commands(const std::vector<CommandComparison>& comparisons, Format format) {
  const auto write = [&](Writer& writer) { write_page(comparisons, writer); };
  switch (format) {
    case Format::markdown:
      return markdown_page({}, {}, write);
    case Format::html:
      return html_page(kCommandsTitle, {}, write);
    case Format::csv:
      return render_csv_of_commands(comparisons);
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
  const char* ending = format == Format::markdown ? "md"
                       : format == Format::html   ? "html"
                       : format == Format::json   ? "json"
                                                  : "csv";
  const std::filesystem::path path = folder / (std::string("commands.") + ending);
  write_file_atomically(path, render_commands(comparisons, format));
  return path;
}

}  // namespace apo::report
