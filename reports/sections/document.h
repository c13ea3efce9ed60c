// reports/sections/document.h - the report's text once, for every format that people read; a format is a Writer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/model.h"

namespace apo::report {

enum class Style { plain, code, strong };

// Raw text; the writer escapes it.
struct Span {
  std::string text;
  Style style = Style::plain;
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

struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<Line>> rows;
};

class Writer {
 public:
  virtual ~Writer() = default;
  virtual void heading(int level, const Line& line) = 0;
  virtual void paragraph(const Line& line) = 0;
  virtual void list(const std::vector<Line>& items) = 0;
  virtual void table(const Table& table) = 0;
  virtual void code_block(const std::string& text) = 0;
  // "trajectory", "effects", "roofline", "stalls"; false when there is no such plot.
  virtual bool plot(const std::string& name) = 0;
};

// The whole report, in the order in which it is read.
void write_document(const ReportModel& model, Writer& writer);

// The claim in one paragraph: the certified number, or that there is none.
Line summarise(const ReportModel& model);
std::string report_title(const ReportModel& model);

}  // namespace apo::report
