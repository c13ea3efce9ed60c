// reports/sections/writer.h - spans, tables and the Writer through which a section writes them; a format is a Writer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/core/records/records.h"

namespace apo::report {

enum class Style { plain, code, strong, verdict };

// Raw text; the writer escapes it.
struct Span {
  std::string text;
  Style style = Style::plain;
  std::string link = "";  // "#id" or a relative path of ours, never text from outside
};
using Line = std::vector<Span>;

inline Span plain(std::string text) {
  return {std::move(text), Style::plain};
}
inline Span code(std::string text) {
  return {std::move(text), Style::code};
}
inline Span strong(std::string text) {
  return {std::move(text), Style::strong};
}

inline Span verdict_word(Verdict verdict) {
  return {std::string(to_string(verdict)), Style::verdict};
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
  // "trajectory", "effects", "roofline", "stalls"; false when there is no such plot.
  virtual bool plot(const std::string& name) = 0;
};

}  // namespace apo::report
