// reports/formats/markdown.cpp - the report as GitHub-flavoured markdown.
#include "reports/formats/escape.h"
#include "reports/plots/plots.h"
#include "reports/render.h"
#include "reports/sections/document.h"

namespace apo::report {
namespace {

std::string inline_text(const Line& line) {
  std::string text;
  for (const Span& span : line) {
    switch (span.style) {
      case Style::plain: {
        // one_line drops the spaces at the ends, which separate this span from its neighbours.
        const bool before = !span.text.empty() && span.text.front() == ' ';
        const bool after = span.text.size() > 1 && span.text.back() == ' ';
        text += (before ? " " : "") + escape_markdown(span.text) + (after ? " " : "");
        break;
      }
      case Style::code:
        text += markdown_code(span.text);
        break;
      case Style::strong: {
        const bool after = !span.text.empty() && span.text.back() == ' ';
        text += "**" + escape_markdown(span.text) + "**" + (after ? " " : "");
        break;
      }
    }
  }
  return text;
}

class MarkdownWriter : public Writer {
 public:
  MarkdownWriter(const ReportModel& model, const PlotPaths& plots) : plots_(plots), drawn_(draw_plots(model)) {}

  void heading(int level, const Line& line) override {
    add(std::string(static_cast<std::size_t>(level), '#') + " " + inline_text(line) + "\n");
  }

  void paragraph(const Line& line) override { add(inline_text(line) + "\n"); }

  void list(const std::vector<Line>& items) override {
    std::string text;
    for (const Line& item : items) {
      text += "- " + inline_text(item) + "\n";
    }
    add(text);
  }

  void table(const Table& table) override {
    std::string text = "|";
    std::string rule = "|";
    for (const std::string& title : table.header) {
      text += " " + escape_markdown(title) + " |";
      rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (const std::vector<Line>& row : table.rows) {
      text += "|";
      for (const Line& cell : row) {
        text += " " + inline_text(cell) + " |";
      }
      text += "\n";
    }
    add(text);
  }

  void code_block(const std::string& text) override { add(markdown_code_block(text)); }

  bool plot(const std::string& name) override {
    for (const NamedPlot& drawn : drawn_) {
      if (drawn.name == name) {
        const auto path = plots_.find(name);
        if (path != plots_.end()) {
          add("![" + escape_markdown(drawn.title) + "](" + path->second + ")\n");
        }
        return true;
      }
    }
    return false;
  }

  std::string take() { return std::move(text_); }

 private:
  void add(const std::string& block) { text_ += (text_.empty() ? "" : "\n") + block; }

  const PlotPaths& plots_;
  std::vector<NamedPlot> drawn_;
  std::string text_;
};

}  // namespace

std::string render_markdown(const ReportModel& model, const PlotPaths& plots) {
  MarkdownWriter writer(model, plots);
  write_document(model, writer);
  return writer.take();
}

}  // namespace apo::report
