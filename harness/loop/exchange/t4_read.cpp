// harness/loop/exchange/t4_read.cpp - reads T4: each result with its line, so that a mistake in it is found.
#include <fmt/format.h>

#include <fstream>
#include <set>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/loop/exchange/document_field.h"
#include "harness/loop/exchange/t4.h"

namespace apo {
namespace {

using Field = DocumentField;

constexpr const char* kHint =
    "docs/research.md describes the format; a file of 'apo space' or Kernel Tuner's T4 is one";

// The lines at which the elements of the list "results" begin. The text is JSON.
std::vector<int> lines_of_results(const std::string& text) {
  std::vector<int> lines;
  int line = 1;
  int depth = 0;
  bool in_results = false;
  std::string last;  // text that was read
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '\n':
        ++line;
        break;
      case '"':
        last.clear();
        for (++i; text[i] != '"'; ++i) {
          i += text[i] == '\\' ? 1U : 0U;
          last += text[i];
        }
        break;
      case '{':
      case '[':
        in_results = depth == 1 ? text[i] == '[' && last == "results" : in_results;
        if (in_results && depth == 2) {
          lines.push_back(line);
        }
        ++depth;
        break;
      case '}':
      case ']':
        --depth;
        break;
      default:
        break;
    }
  }
  return lines;
}

double time_of(const Field& times, const char* key) {
  if (!times.has(key)) {
    return 0;
  }
  const Field field = times.at(key);
  const double time = field.number();
  if (time < 0) {
    field.fail("is negative, and a time is not");
  }
  return time;
}

T4Times read_times(const Field& field) {
  T4Times times{.compilation = time_of(field, "compilation"),
                .benchmark = time_of(field, "benchmark"),
                .framework = time_of(field, "framework"),
                .search_algorithm = time_of(field, "search_algorithm"),
                .validation = time_of(field, "validation"),
                .runtimes = {}};
  if (field.has("compilation_time")) {  // as the schema names it
    times.compilation = time_of(field, "compilation_time");
  }
  if (field.has("runtimes")) {
    field.at("runtimes").each_element([&](const Field& one) { times.runtimes.push_back(one.number()); });
  }
  return times;
}

T4Value read_value(const Field& field) {
  const Field::Document& value = field.value();
  if (value.is_boolean()) {
    return value.get<bool>();
  }
  if (value.is_number_integer()) {
    return field.integer();
  }
  if (value.is_number()) {
    return field.number();
  }
  if (value.is_string()) {
    return field.text();
  }
  field.fail("is no number, no text and neither true nor false");
}

// Kernel Tuner writes "InvalidConfig" for what it has no time of, and lists of times; neither is one number.
std::vector<T4Measurement> read_measurements(const Field& field) {
  std::vector<T4Measurement> measurements;
  field.each_element([&](const Field& one) {
    const Field value = one.at("value");
    if (!value.value().is_string() && !value.value().is_array()) {
      measurements.push_back(
          {.name = one.at("name").text(), .value = value.number(), .unit = one.text_or_nothing("unit")});
    }
  });
  return measurements;
}

Invalidity read_invalidity(const Field& field) {
  const std::string word = field.text();
  if (const auto invalidity = value_of(kInvalidityWords, word)) {
    return *invalidity;
  }
  std::vector<std::string> known;
  for (const auto& [value, name] : kInvalidityWords) {
    known.emplace_back(name);
  }
  field.fail("is '" + word + "', which T4 does not know", "known: " + join(known, ", "));
}

T4Result read_result(const Field& field) {
  T4Result result{.timestamp = field.text_or_nothing("timestamp"),
                  .configuration = {},
                  .objectives = {},
                  .times = read_times(field.at("times")),
                  .invalidity = read_invalidity(field.at("invalidity")),
                  .correctness = field.at("correctness").number(),
                  .measurements = {},
                  .reason = field.text_or_nothing("reason")};
  field.at("configuration").each_member([&](const std::string& name, const Field& value) {
    result.configuration[name] = read_value(value);
  });
  if (field.has("objectives")) {
    field.at("objectives").each_element([&](const Field& one) { result.objectives.push_back(one.text()); });
  }
  if (field.has("measurements")) {
    result.measurements = read_measurements(field.at("measurements"));
  }
  return result;
}

T4Origin read_origin(const Field& field) {
  return {.variant = field.at("variant").text(),
          .source_hash = field.at("source_hash").text(),
          .workload = field.at("workload").text(),
          .machine = field.at("machine").text(),
          .cache = field.at("cache").text(),
          .reference = field.at("reference").text(),
          .seed = field.has("seed") ? field.at("seed").integer() : 0};
}

void check_parameters(const T4Configuration& first, const T4Configuration& other, const Field& field) {
  for (const auto& [name, value] : other) {
    if (!first.contains(name)) {
      field.fail("has a parameter '" + name + "', which the first result lacks", "one file holds one space");
    }
  }
  for (const auto& [name, value] : first) {
    if (!other.contains(name)) {
      field.fail("lacks the parameter '" + name + "' of the first result", "one file holds one space");
    }
  }
}

void read_results(const Field& list, const std::string& path, const std::vector<int>& lines, T4File& file) {
  std::map<T4Configuration, int> seen;  // and its line
  list.check_list();
  for (std::size_t i = 0; i < list.value().size(); ++i) {
    const int line = i < lines.size() ? lines[i] : 1;
    const Field field(fmt::format("{}:{}: results[{}]", path, line, i), list.value()[i], kHint);
    const T4Result& result = file.results.emplace_back(read_result(field));
    check_parameters(file.results.front().configuration, result.configuration, field);
    if (const auto [known, is_new] = seen.emplace(result.configuration, line); !is_new) {
      field.fail(fmt::format("is {} again, as line {}", to_text(result.configuration), known->second),
                 "remove one of the two");
    }
  }
}

}  // namespace

T4File parse_t4(const std::string& text, const std::string& path) {
  const Field::Document document = parse_document(text, path);
  const Field all(path + ":", document, kHint);
  T4File file;
  const Field results = all.at("results");
  if (all.has("metadata")) {
    const Field metadata = all.at("metadata");
    file.time_unit = metadata.has("timeunit") ? metadata.at("timeunit").text() : file.time_unit;
    if (metadata.has("apo")) {
      file.origin = read_origin(metadata.at("apo"));
    }
  }
  read_results(results, path, lines_of_results(text), file);
  return file;
}

T4File read_t4(const std::filesystem::path& path) {
  return parse_t4(read_file(path), path.string());
}

bool may_be_t4(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  char first = 0;
  return stream >> first && first == '{';  // a journal begins with "SQLite format 3"
}

}  // namespace apo
