// harness/loop/exchange/hand_kept_table.cpp - one reader a column.
#include "harness/loop/exchange/hand_kept_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

constexpr std::string_view kFirstLine = "# hand-kept journal: ";

// Says what is wrong with a field; caught where its place is known.
struct Mistake {
  std::string what;
  std::string fix = {};
};

int counting_number(const std::string& field) {
  const auto number = parse_int(field);
  if (!number || *number < 1 || *number > std::numeric_limits<int>::max()) {
    throw Mistake{"is no whole number above 0: '" + field + "'"};
  }
  return static_cast<int>(*number);
}

std::string date_of(const std::string& field) {
  const std::vector<std::string> parts = split(field, '-');
  const auto is = [&](std::size_t part, std::size_t length, std::int64_t most) {
    const auto number = parts[part].size() == length ? parse_int(parts[part]) : std::nullopt;
    return number && *number >= 1 && *number <= most;
  };
  if (parts.size() != 3 || !is(0, 4, 9999) || !is(1, 2, 12) || !is(2, 2, 31)) {
    throw Mistake{"is no date: '" + field + "'", "write it as 2026-02-17"};
  }
  return field;
}

// "B=16 T=512"
Axes axes_of(const std::string& field) {
  Axes axes;
  for (const std::string& word : split_words(field)) {
    const std::size_t sign = word.find('=');
    const auto value = sign == std::string::npos ? std::nullopt : parse_int(word.substr(sign + 1));
    if (!value || !is_identifier(word.substr(0, sign)) || !axes.emplace(word.substr(0, sign), *value).second) {
      throw Mistake{"has '" + word + "', which is no size", "write them as B=16 T=512, each once"};
    }
  }
  return axes;
}

std::vector<std::string> techniques_of(const std::string& field) {
  std::vector<std::string> techniques = split(field, ',');
  for (std::string& technique : techniques) {
    technique = trim(technique);
    if (technique.empty()) {
      throw Mistake{"has an empty technique: '" + field + "'"};
    }
  }
  return techniques;
}

bool yes_or_no(const std::string& field) {
  if (field != "yes" && field != "no") {
    throw Mistake{"is '" + field + "'", "known: yes, no"};
  }
  return field == "yes";
}

StatedNumber number_of(const std::string& field) {
  const auto number = stated_number(field, false);
  if (!number) {
    throw Mistake{"is no number: '" + field + "'", "write 12.5, ~12.5 or 12..15, and the unit in its own column"};
  }
  return *number;
}

StatedNumber change_of(const std::string& field) {
  const auto change = stated_number(field, true);
  if (!change) {
    throw Mistake{"is no change of speed: '" + field + "'", "write +2.4 %, -10..-5 % or 1.13 x; more is faster"};
  }
  return *change;
}

template <class Value>
Value known_word(const std::optional<Value>& value, const std::string& field, const std::vector<std::string>& words) {
  if (!value) {
    const std::string guess = did_you_mean(field, words);
    throw Mistake{"is '" + field + "'", (guess.empty() ? "" : guess + "  ") + "known: " + join(words, ", ")};
  }
  return *value;
}

HandKeptScope scope_of(const std::string& field) {
  return known_word(hand_kept_scope_from(field), field, {"kernel", "layer", "step"});
}

Target target_of(const std::string& field) {
  const auto target = field == "host"   ? std::optional(Target::host)
                      : field == "cuda" ? std::optional(Target::cuda)
                                        : std::nullopt;
  return known_word(target, field, {"host", "cuda"});
}

HandKeptQuantity quantity_of(const std::string& field) {
  return known_word(hand_kept_quantity_from(field), field,
                    {"time", "throughput", "speed", "loss", "share", "count", "size"});
}

Verdict verdict_of_field(const std::string& field) {
  return known_word(verdict_from(field), field, {"accepted", "reverted", "inconclusive"});
}

struct NamedColumn {
  std::string_view name;
  void (*read)(const std::string& field, HandKeptRow& row);  // of a field that is not empty
};

constexpr std::array kColumns = {
    NamedColumn{"line", [](const std::string& field, HandKeptRow& row) { row.line = counting_number(field); }},
    NamedColumn{"date", [](const std::string& field, HandKeptRow& row) { row.date = date_of(field); }},
    NamedColumn{"device_claimed", [](const std::string& field, HandKeptRow& row) { row.device_claimed = field; }},
    NamedColumn{"device_deduced", [](const std::string& field, HandKeptRow& row) { row.device_deduced = field; }},
    NamedColumn{"target", [](const std::string& field, HandKeptRow& row) { row.target = target_of(field); }},
    NamedColumn{"scope", [](const std::string& field, HandKeptRow& row) { row.scope = scope_of(field); }},
    NamedColumn{"subject", [](const std::string& field, HandKeptRow& row) { row.subject = field; }},
    NamedColumn{"axes", [](const std::string& field, HandKeptRow& row) { row.axes = axes_of(field); }},
    NamedColumn{"techniques",
                [](const std::string& field, HandKeptRow& row) { row.techniques = techniques_of(field); }},
    NamedColumn{"joint", [](const std::string& field, HandKeptRow& row) { row.joint = yes_or_no(field); }},
    NamedColumn{"baseline", [](const std::string& field, HandKeptRow& row) { row.baseline = field; }},
    NamedColumn{"quantity", [](const std::string& field, HandKeptRow& row) { row.quantity = quantity_of(field); }},
    NamedColumn{"unit", [](const std::string& field, HandKeptRow& row) { row.unit = field; }},
    NamedColumn{"before", [](const std::string& field, HandKeptRow& row) { row.before = number_of(field); }},
    NamedColumn{"after", [](const std::string& field, HandKeptRow& row) { row.after = number_of(field); }},
    NamedColumn{"change", [](const std::string& field, HandKeptRow& row) { row.change = change_of(field); }},
    NamedColumn{"predicted", [](const std::string& field, HandKeptRow& row) { row.predicted = change_of(field); }},
    NamedColumn{"predicted_scope",
                [](const std::string& field, HandKeptRow& row) { row.predicted_scope = scope_of(field); }},
    NamedColumn{"n", [](const std::string& field, HandKeptRow& row) { row.samples = counting_number(field); }},
    NamedColumn{"warm_up", [](const std::string& field, HandKeptRow& row) { row.warm_up = field; }},
    NamedColumn{"verdict", [](const std::string& field, HandKeptRow& row) { row.verdict = verdict_of_field(field); }},
    NamedColumn{"in_code", [](const std::string& field, HandKeptRow& row) { row.in_code = yes_or_no(field); }},
    NamedColumn{"superseded_by",
                [](const std::string& field, HandKeptRow& row) { row.superseded_by = counting_number(field); }},
    NamedColumn{"note", [](const std::string& field, HandKeptRow& row) { row.note = field; }},
};

const NamedColumn* find_column(const std::string& name) {
  const auto found = std::ranges::find_if(kColumns, [&](const NamedColumn& column) { return column.name == name; });
  return found == kColumns.end() ? nullptr : &*found;
}

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const NamedColumn& column : kColumns) {
    names.emplace_back(column.name);
  }
  return names;
}

using Columns = std::vector<const NamedColumn*>;

Columns read_header(const std::vector<std::string>& fields, const std::string& place) {
  Columns columns;
  for (const std::string& name : fields) {
    const NamedColumn* column = find_column(name);
    if (column == nullptr) {
      throw UserError(place + ": unknown column '" + name + "'",
                      did_you_mean(name, column_names()) + "\nknown: " + join(column_names(), ", "));
    }
    if (std::ranges::find(columns, column) != columns.end()) {
      throw UserError(place + ": the column '" + name + "' stands there twice", "name each column once");
    }
    columns.push_back(column);
  }
  if (std::ranges::find(columns, find_column("line")) == columns.end()) {
    throw UserError(place + ": there is no column 'line'", "it says which line of the document a row is from");
  }
  return columns;
}

// Checks the fields of a row together.
void check_row(const HandKeptRow& row) {
  const bool numbers = !row.before.text.empty() || !row.after.text.empty();
  if (row.line == 0) {
    throw Mistake{"has no 'line'"};
  }
  if (numbers && row.quantity == HandKeptQuantity::unsaid) {
    throw Mistake{"has a number of no quantity", "name time, throughput, loss, share, count or size"};
  }
  const bool speeds = row.quantity == HandKeptQuantity::time || row.quantity == HandKeptQuantity::throughput;
  if (speeds &&
      ((!row.before.text.empty() && !(row.before.low > 0)) || (!row.after.text.empty() && !(row.after.low > 0)))) {
    throw Mistake{"has a " + std::string(to_string(row.quantity)) + " that is not above 0"};
  }
  if (row.joint && row.techniques.size() < 2) {
    throw Mistake{"is of several techniques together and names fewer than two"};
  }
}

HandKeptRow read_row(const std::vector<std::string>& fields, const Columns& columns, const std::string& place) {
  if (fields.size() != columns.size()) {
    throw UserError(fmt::format("{}: {} fields for {} columns", place, fields.size(), columns.size()),
                    "separate fields by one tab each, also where nothing is said");
  }
  HandKeptRow row;
  std::string where = place;
  try {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      where = fmt::format("{}: '{}'", place, columns[i]->name);
      if (!fields[i].empty()) {
        columns[i]->read(fields[i], row);
      }
    }
    where = place + ": the row";
    check_row(row);
  } catch (const Mistake& mistake) {
    throw UserError(where + " " + mistake.what, mistake.fix);
  }
  return row;
}

// Each with the line of the table that it stands on.
struct TableLine {
  std::size_t number = 0;
  std::vector<std::string> fields;
};

std::vector<TableLine> lines_of(const std::string& text) {
  std::vector<TableLine> lines;
  const std::vector<std::string> all = split(text, '\n');
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string line = all[i].ends_with('\r') ? all[i].substr(0, all[i].size() - 1) : all[i];
    if (!line.empty() && !line.starts_with('#')) {
      lines.push_back({i + 1, split(line, '\t')});
      std::ranges::transform(lines.back().fields, lines.back().fields.begin(),
                             [](const std::string& field) { return trim(field); });
    }
  }
  return lines;
}

std::string title_of(const std::string& text, const std::string& file) {
  const std::string first = trim(text.substr(0, text.find('\n')));
  if (!first.starts_with(kFirstLine) || first.size() == kFirstLine.size()) {
    throw UserError(file + ":1: the first line is no '" + std::string(kFirstLine) + "TITLE'",
                    "docs/journal.md has the format of hand-kept journals");
  }
  return first.substr(kFirstLine.size());
}

// A line that replaces another one is there.
void check_superseded(const HandKeptJournal& journal, const std::vector<TableLine>& lines, const std::string& file) {
  std::set<int> known;
  for (const HandKeptRow& row : journal.rows) {
    known.insert(row.line);
  }
  for (std::size_t i = 0; i < journal.rows.size(); ++i) {
    const HandKeptRow& row = journal.rows[i];
    if (row.superseded_by != 0 && (row.superseded_by == row.line || !known.contains(row.superseded_by))) {
      throw UserError(fmt::format("{}:{}: no other row is from line {}, which is to supersede it", file,
                                  lines[i + 1].number, row.superseded_by),
                      "name a line of the document that has a row");
    }
  }
}

}  // namespace

HandKeptJournal parse_hand_kept(const std::string& text, const std::string& file) {
  if (!is_utf8(text)) {
    throw UserError(file + " is not UTF-8");
  }
  HandKeptJournal journal{.title = title_of(text, file), .sha256 = sha256(text)};
  const std::vector<TableLine> lines = lines_of(text);
  if (lines.size() < 2) {
    throw UserError(file + " has no row", "it needs a line with the names of the columns, and rows below it");
  }
  const auto place = [&](const TableLine& line) { return fmt::format("{}:{}", file, line.number); };
  const Columns columns = read_header(lines.front().fields, place(lines.front()));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    journal.rows.push_back(read_row(lines[i].fields, columns, place(lines[i])));
  }
  check_superseded(journal, lines, file);
  return journal;
}

HandKeptJournal read_hand_kept(const std::filesystem::path& file) {
  return parse_hand_kept(read_file(file), file.string());
}

}  // namespace apo
