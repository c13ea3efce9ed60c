// harness/loop/exchange/document_field.cpp - checks each value where it is read.
#include "harness/loop/exchange/document_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "harness/core/error.h"

namespace apo {
namespace {

using Document = nlohmann::ordered_json;

// What Python writes for what is no number.
bool begins_with_nan(const std::string& text, std::size_t at) {
  return text.compare(at, 3, "NaN") == 0 || text.compare(at, 8, "Infinity") == 0;
}

[[noreturn]] void fail_to_parse(const std::string& text, const std::string& path, int first_line, std::size_t byte,
                                const std::string& what) {
  const std::size_t end = std::min(byte, text.size());
  const auto line = first_line + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  const bool is_nan = end > 0 && begins_with_nan(text, end - 1);
  throw UserError(fmt::format("{}:{}: this is no JSON: {}", path, line, what.substr(what.find(": ") + 2)),
                  is_nan ? "JSON has no NaN and no infinity: remove this number" : "mend the file at this line");
}

}  // namespace

Document parse_document(const std::string& text, const std::string& path, int first_line) {
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto note = [&](int, Document::parse_event_t event, Document& parsed) {
    if (event == Document::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == Document::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == Document::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw UserError(path + ": an object has the key '" + parsed.get<std::string>() + "' twice",
                      "remove one of the two");
    }
    return true;
  };
  try {
    return Document::parse(text, note);
  } catch (const Document::parse_error& error) {
    fail_to_parse(text, path, first_line, error.byte, error.what());
  } catch (const Document::out_of_range& error) {
    const std::string what = error.what();  // of a number that no double holds
    throw UserError(path + ": " + what.substr(what.find("] ") + 2), "write a number that a double holds");
  }
}

DocumentField::DocumentField(std::string way, const Document& value, std::string hint)
    : way_(std::move(way)), value_(value), hint_(std::move(hint)) {}

void DocumentField::fail(const std::string& what, const std::string& hint) const {
  throw UserError(way_ + " " + what, hint.empty() ? hint_ : hint);
}

bool DocumentField::has(const char* key) const {
  return value_.is_object() && value_.contains(key) && !value_.at(key).is_null();
}

DocumentField DocumentField::at(const std::string& key) const {
  if (!value_.is_object() || !value_.contains(key)) {
    fail("has no '" + key + "'");
  }
  return {way_ + (way_.ends_with(":") ? " " : ".") + key, value_.at(key), hint_};
}

std::string DocumentField::text() const {
  if (!value_.is_string()) {
    fail("is no text");
  }
  return value_.get<std::string>();
}

std::int64_t DocumentField::integer() const {
  const bool is_too_large = value_.is_number_unsigned() && value_.get<std::uint64_t>() > INT64_MAX;
  if (!value_.is_number_integer() || is_too_large) {
    fail("is no integer of 64 bits");
  }
  return value_.get<std::int64_t>();
}

double DocumentField::number() const {
  if (!value_.is_number() && !value_.is_boolean()) {
    fail("is no number");
  }
  const double number = value_.is_boolean() ? (value_.get<bool>() ? 1 : 0) : value_.get<double>();
  if (!std::isfinite(number)) {
    fail("is no finite number");
  }
  return number;
}

void DocumentField::check_object() const {
  if (!value_.is_object()) {
    fail("is no object");
  }
}

void DocumentField::check_list() const {
  if (!value_.is_array()) {
    fail("is no list");
  }
}

}  // namespace apo
