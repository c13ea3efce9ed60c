// harness/cli/terminal.cpp - the Writer for a terminal: padded tables, colours, and no plots.
#include "harness/cli/terminal.h"

#include <utility>

#include "harness/cli/console.h"
#include "harness/core/text.h"

namespace apo {
namespace {

using report::Line;
using report::Span;
using report::Style;

const char* colour_of(const Span& span) {
  if (span.style == Style::verdict) {
    const auto verdict = verdict_from(span.text);
    return verdict == Verdict::accepted ? "green" : verdict == Verdict::reverted ? "red" : "yellow";
  }
  return span.style == Style::strong ? "bold" : nullptr;
}

std::string text_of(const Line& line) {
  std::string text;
  for (const Span& span : line) {
    const char* colour = colour_of(span);
    const std::string shown = one_line(span.text);
    text += colour == nullptr ? shown : paint(shown, colour);
  }
  return text;
}

class TerminalWriter : public report::Writer {
 public:
  explicit TerminalWriter(Folds folds) : folds_(folds) {}

  void heading(int level, const Line& line) override {
    after_table_ = false;
    add((level == 1 ? "" : "\n") + paint(text_of(line), "bold") + "\n");
  }
  void contents() override {}
  void lead(const Line& line) override { paragraph(line); }
  void paragraph(const Line& line) override { add("  " + text_of(line) + "\n"); }

  void list(const std::vector<Line>& items) override {
    for (const Line& item : items) {
      paragraph(item);
    }
  }

  void table(const report::Table& table) override {
    std::vector<std::vector<std::string>> rows;
    if (!table.header.empty()) {
      rows.push_back(table.header);
    }
    for (const std::vector<Line>& row : table.rows) {
      rows.emplace_back();
      for (const Line& cell : row) {
        rows.back().push_back(text_of(cell));
      }
    }
    for (std::vector<std::string>& row : rows) {
      row.front().insert(0, "  ");
    }
    add(format_table(rows));
    after_table_ = closed_ == 0;
  }

  void code_block(const std::string& text) override { add(as_quotation(clean_lines(text))); }

  void diff(const std::string& text) override {
    for (const std::string& line : split(trim(clean_lines(text)), '\n')) {
      const char* colour = line.starts_with("---") || line.starts_with("+++") ? "bold"
                           : line.starts_with('+')                            ? "green"
                           : line.starts_with('-')                            ? "red"
                                                                              : nullptr;
      add((colour == nullptr ? line : paint(line, colour)) + "\n");
    }
  }

  void begin_fold(const Line& summary, const std::string&) override {
    if (folds_ == Folds::open) {
      heading(2, summary);
      return;
    }
    paragraph(summary);
    ++closed_;
  }
  void end_fold() override { closed_ -= folds_ == Folds::closed ? 1 : 0; }

  bool plot(const std::string&) override { return true; }  // nothing is missing here without it

  std::string take() { return std::move(text_); }

 private:
  void add(const std::string& block) {
    text_ += closed_ > 0 ? "" : std::exchange(after_table_, false) ? "\n" + block : block;
  }

  Folds folds_;
  int closed_ = 0;  // folds around what is written now
  bool after_table_ = false;
  std::string text_;
};

}  // namespace

std::string terminal_text(const std::function<void(report::Writer&)>& write, Folds folds) {
  TerminalWriter writer(folds);
  write(writer);
  return writer.take();
}

}  // namespace apo
