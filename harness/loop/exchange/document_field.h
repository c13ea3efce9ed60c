// harness/loop/exchange/document_field.h - a value of another tool's JSON document that names its place when it is
// wrong.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace apo {

// Parses JSON whose objects have no key twice. Throws UserError with path and line. `first_line`: of the text in its
// file.
nlohmann::ordered_json parse_document(const std::string& text, const std::string& path, int first_line = 1);

// A value of the document, and the way to it: "definition.json: inputs.x". Every function throws UserError, with the
// hint, where the document is otherwise.
class DocumentField {
 public:
  using Document = nlohmann::ordered_json;
  DocumentField(std::string way, const Document& value, std::string hint);

  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const;
  bool has(const char* key) const;  // and it is not null
  bool is_null() const { return value_.is_null(); }
  const Document& value() const { return value_; }
  DocumentField at(const std::string& key) const;
  std::string text() const;
  std::string text_or_nothing(const char* key) const { return has(key) ? at(key).text() : ""; }
  std::int64_t integer() const;
  double number() const;  // finite; true is 1
  template <class Visit>
  void each_member(const Visit& visit) const {
    check_object();
    for (const auto& [key, value] : value_.items()) {
      visit(key, at(key));
    }
  }
  template <class Visit>
  void each_element(const Visit& visit) const {
    check_list();
    for (std::size_t i = 0; i < value_.size(); ++i) {
      visit(DocumentField(way_ + "[" + std::to_string(i) + "]", value_[i], hint_));
    }
  }
  // A name of an axis or an extent, as text.
  std::string word() const { return value_.is_number_integer() ? std::to_string(integer()) : text(); }
  void check_object() const;
  void check_list() const;

 private:
  std::string way_;
  const Document& value_;
  std::string hint_;
};

}  // namespace apo
