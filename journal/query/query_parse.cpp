// journal/query/query_parse.cpp - parses the predicates of `apo query`.
#include <algorithm>
#include <chrono>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "journal/query/query_keys.h"

namespace apo {
namespace {

using Type = ColumnType;

struct Split {
  std::string key;
  Operator operation = Operator::equal;
  std::string value;
  std::string sign() const { return std::string(to_string(operation)); }
};

// "speedup>1", or with blanks round the operator.
Split split_word(const std::string& word) {
  const std::size_t position = word.find_first_of("=!<>~");
  const std::string key = trim(word.substr(0, position));
  if (position != std::string::npos && !key.empty()) {
    const std::string_view rest = std::string_view(word).substr(position);
    for (const std::size_t length : {2U, 1U}) {  // "<=" before "<"
      if (const auto operation = value_named<Operator>(rest.substr(0, length))) {
        return {key, *operation, trim(rest.substr(to_string(*operation).size()))};
      }
    }
  }
  throw UserError("'" + word + "' is not a predicate",
                  "write KEY, an operator (= != < <= > >= ~) and a value, such as family=e88_backward or 'speedup<1'");
}

// Splits at commas; a backslash takes the next comma or backslash as it is.
std::vector<std::string> alternatives(const std::string& text) {
  std::vector<std::string> parts(1);
  for (std::size_t index = 0; index < text.size(); ++index) {
    const bool escapes =
        text[index] == '\\' && index + 1 < text.size() && (text[index + 1] == ',' || text[index + 1] == '\\');
    if (escapes) {
      parts.back() += text[++index];
    } else if (text[index] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[index];
    }
  }
  return parts;
}

bool is_column(const KeySpec& spec) {
  return !is_date_bound(spec) && !spec.column.empty();
}

std::vector<std::string> key_names(bool predicates_too) {
  std::vector<std::string> names;
  for (const KeySpec& spec : experiments_subject().keys) {
    if (predicates_too || is_column(spec)) {
      names.emplace_back(spec.key.name);
    }
  }
  if (predicates_too) {
    names.insert(names.end(), {"sort", "limit", "columns"});
  }
  return names;
}

std::string known_keys(std::string_view given, bool predicates_too) {
  const std::vector<std::string> names = key_names(predicates_too);
  const std::string near = did_you_mean(given, names);
  return (near.empty() ? "" : near + "  ") + "known: " + join(names, ", ");
}

const KeySpec& column_key(const std::string& name, std::string_view where) {
  const KeySpec* spec = find_key(experiments_subject(), name);
  if (spec == nullptr || !is_column(*spec)) {
    throw UserError("unknown column '" + name + "' in " + std::string(where), known_keys(name, false));
  }
  return *spec;
}

// A date that there is, and a time of its day.
bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != 10 && text.size() != kForm.size()) {
    return false;
  }
  if (!std::equal(text.begin(), text.end(), kForm.begin(),
                  [](char have, char want) { return want == 'd' ? have >= '0' && have <= '9' : have == want; })) {
    return false;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    return static_cast<unsigned>(parse_int(text.substr(at, digits)).value());
  };
  const std::chrono::year_month_day day(std::chrono::year(static_cast<int>(number(0, 4))),
                                        std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2)));
  return day.ok() && (text.size() == 10 || (number(11, 2) < 24 && number(14, 2) < 60 && number(17, 2) < 60));
}

Cell typed_value(const std::string& text, const KeySpec& spec, const std::string& word) {
  if (spec.key.type == Type::integer) {
    if (const auto value = parse_int(text)) {
      return *value;
    }
    throw UserError("'" + text + "' in '" + word + "' is not a whole number", "");
  }
  if (spec.key.type == Type::real) {
    if (const auto value = parse_double(text)) {
      return *value;
    }
    throw UserError("'" + text + "' in '" + word + "' is not a number", "write it as 1.05 or 1e9, without a unit");
  }
  if (!spec.words.empty() && std::find(spec.words.begin(), spec.words.end(), text) == spec.words.end()) {
    const std::string near = did_you_mean(text, spec.words);
    throw UserError("'" + text + "' is no " + std::string(spec.key.name) + " in '" + word + "'",
                    (near.empty() ? "" : near + "  ") + "known: " + join(spec.words, ", "));
  }
  const bool dated = is_date_bound(spec);
  if (dated && !is_date(text)) {
    throw UserError("'" + text + "' in '" + word + "' is not a date", "write 2026-01-31 or 2026-01-31T12:00:00Z");
  }
  return spec.key.name == "until" && text.size() == 10 ? text + "T23:59:59Z" : text;
}

void check_operator(const Split& split, const KeySpec& spec, const std::string& word) {
  const bool is_text = spec.key.type == Type::text;
  const bool ordered = split.operation != Operator::equal && split.operation != Operator::unequal &&
                       split.operation != Operator::contains;
  const bool dated = is_date_bound(spec);
  const bool is_time = spec.column == "started_at" || spec.column == "finished_at";
  if (dated && split.operation != Operator::equal) {
    throw UserError("'" + split.sign() + "' does not apply in '" + word + "'",
                    "write " + split.key + "=" + split.value);
  }
  if (is_text && ordered && !is_time) {
    throw UserError("'" + split.sign() + "' does not apply to the text '" + split.key + "' in '" + word + "'",
                    "use =, != or ~ (contains)");
  }
  if (split.operation == Operator::contains && (!is_text || !spec.words.empty())) {
    throw UserError("'~' does not apply to '" + split.key + "' in '" + word + "'",
                    is_text ? "use = or !=" : "use =, !=, <, <=, > or >=");
  }
}

Predicate parse_predicate(const Split& split, const std::string& word) {
  const KeySpec* spec = find_key(experiments_subject(), split.key);
  if (spec == nullptr) {
    throw UserError("unknown key '" + split.key + "' in '" + word + "'", known_keys(split.key, true));
  }
  check_operator(split, *spec, word);
  Predicate predicate{.key = split.key, .operation = split.operation};
  for (const std::string& value : alternatives(split.value)) {
    if (value.empty()) {
      throw UserError("'" + word + "' names no value", "write " + split.key + split.sign() + "VALUE");
    }
    predicate.values.push_back(typed_value(value, *spec, word));
  }
  const bool any_of = split.operation == Operator::equal || split.operation == Operator::unequal ||
                      split.operation == Operator::contains;
  const bool dated = is_date_bound(*spec);
  if (predicate.values.size() > 1 && (!any_of || dated)) {
    throw UserError("'" + word + "' compares with several values", "give one");
  }
  return predicate;
}

void parse_sort(Query& query, const std::string& value) {
  for (const std::string& part : alternatives(value)) {
    const bool descending = part.starts_with('-');
    const std::string name = descending ? part.substr(1) : part;
    column_key(name, "sort=");
    query.sort.push_back({name, descending});
  }
}

void parse_columns(Query& query, const std::string& value) {
  for (const std::string& name : alternatives(value)) {
    column_key(name, "columns=");
    query.columns.push_back(name);
  }
}

void parse_limit(Query& query, const std::string& value) {
  const auto limit = parse_int(value);
  if (!limit || *limit < 0) {
    throw UserError("'" + value + "' is no limit", "write limit=20, or limit=0 for all");
  }
  query.limit = *limit;
}

}  // namespace

Query parse_query(const std::vector<std::string>& words) {
  Query query;
  for (const std::string& word : words) {
    const Split split = split_word(word);
    const bool directive = split.key == "sort" || split.key == "limit" || split.key == "columns";
    if (directive && split.operation != Operator::equal) {
      throw UserError("'" + split.sign() + "' does not apply in '" + word + "'",
                      "write " + split.key + "=" + split.value);
    }
    if (split.key == "sort") {
      parse_sort(query, split.value);
    } else if (split.key == "columns") {
      parse_columns(query, split.value);
    } else if (split.key == "limit") {
      parse_limit(query, split.value);
    } else {
      query.where.push_back(parse_predicate(split, word));
    }
  }
  return query;
}

}  // namespace apo
