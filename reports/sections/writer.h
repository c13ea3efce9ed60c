// reports/sections/writer.h - spans, tables and the Writer through which a section writes them; a format is a Writer.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"

namespace apo::report {

enum class Style { plain, code, strong, verdict };

template <class T>
concept Text = std::convertible_to<const T&, std::string_view>;
template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

// Raw text, which the writer escapes; a text or a whole number is a plain span.
struct Span {
  std::string text;
  Style style = Style::plain;
  std::string link = "";  // "#id" or a relative path of ours, never text from outside

  template <Text T>
  Span(const T& words, Style as = Style::plain, std::string to = "")
      : text(std::string_view(words)), style(as), link(std::move(to)) {}
  template <WholeNumber T>
  Span(T number) : text(std::to_string(number)) {}
};

// Spans one after the other, or one alone.
struct Line : std::vector<Span> {
  Line() = default;
  Line(std::initializer_list<Span> spans) : vector(spans) {}
  template <class T>
  requires std::constructible_from<Span, const T&> Line(const T& one) : vector{Span(one)} {}
};

inline Span code(const std::string& text) {
  return {text, Style::code};
}
inline Span strong(const std::string& text) {
  return {text, Style::strong};
}

inline Span verdict_word(Verdict verdict) {
  return {to_string(verdict), Style::verdict};
}

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<Line>> rows;
  bool sortable = false;  // by the reader, where the format can
};

class Writer {
 public:
  virtual ~Writer() = default;
  virtual void heading(int level, const Line& line) = 0;
  virtual void contents() = 0;              // links to the headings of level 2 that follow
  virtual void lead(const Line& line) = 0;  // the one paragraph to read
  virtual void paragraph(const Line& line) = 0;
  virtual void list(const std::vector<Line>& items) = 0;
  virtual void table(const Table& table) = 0;
  virtual void code_block(const std::string& text) = 0;
  virtual void diff(const std::string& text) = 0;
  // Begins a part that is shown on demand, up to end_fold(). `id` is a word of ours or "".
  virtual void begin_fold(const Line& summary, const std::string& id) = 0;
  virtual void end_fold() = 0;
  // "trajectory", "effects", "roofline"; false when there is no such plot.
  virtual bool plot(const std::string& name) = 0;
};

}  // namespace apo::report
