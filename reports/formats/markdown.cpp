// reports/formats/markdown.cpp - the report as GitHub-flavoured markdown.
#include <fmt/format.h>

#include <utility>

#include "reports/formats/escape.h"
#include "reports/formats/pages.h"

namespace apo::report {
namespace {

std::string span_text(const Span& span) {
  // one_line drops the spaces at the ends, which separate this span from its neighbours.
  const bool before = !span.text.empty() && span.text.front() == ' ';
  const bool after = span.text.size() > 1 && span.text.back() == ' ';
  switch (span.style) {
    case Style::plain:
    case Style::verdict:
      return (before ? " " : "") + escape_markdown(span.text) + (after ? " " : "");
    case Style::code:
      return markdown_code(span.text);
    case Style::strong:
      break;
  }
  return "**" + escape_markdown(span.text) + "**" + (after ? " " : "");
}

std::string inline_text(const Line& line) {
  std::string text;
  for (const Span& span : line) {
    text += span.link.empty() ? span_text(span) : fmt::format("[{}]({})", span_text(span), span.link);
  }
  return text;
}

// A block of HTML in markdown ends at an empty line, and what follows would be read as markdown.
std::string summary_html(Line line) {
  for (Span& span : line) {
    const bool before = span.text.starts_with(' ');
    const bool after = span.text.size() > 1 && span.text.ends_with(' ');
    span.text = (before ? " " : "") + one_line(span.text) + (after ? " " : "");
  }
  std::string html = inline_html(line);
  for (std::size_t at = html.find("]("); at != std::string::npos; at = html.find("](", at)) {
    html.replace(at, 2, "]&#40;");
  }
  return html;
}

std::string as_diff(std::string block) {
  return block.insert(block.find_first_not_of('`'), "diff");
}

class MarkdownWriter : public Writer {
 public:
  MarkdownWriter(const std::vector<NamedPlot>& drawn, const PlotPaths& plots) : plots_(plots), drawn_(drawn) {}

  void heading(int level, const Line& line) override {
    if (level == 2) {
      headings_.push_back(line);
    }
    add(std::string(static_cast<std::size_t>(level), '#') + " " + inline_text(line) + "\n");
  }

  void contents() override { contents_at_ = text_.size(); }
  void lead(const Line& line) override { add("> " + inline_text(line) + "\n"); }
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

  void diff(const std::string& text) override { add(as_diff(markdown_code_block(text))); }

  // GitHub shows these elements of HTML; the id is one that links of ours name.
  void begin_fold(const Line& summary, const std::string& id) override {
    add(fmt::format("<details{}><summary>{}</summary>\n", id.empty() ? "" : " id=\"" + id + "\"",
                    summary_html(summary)));
  }
  void end_fold() override { add("</details>\n"); }

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

  std::string take() {
    if (contents_at_ != std::string::npos) {
      std::string links;
      for (const Line& heading : headings_) {
        links += fmt::format("\n- [{}](#{})", inline_text(heading), slug(heading));
      }
      text_.insert(contents_at_, links + "\n");
    }
    return std::move(text_);
  }

 private:
  void add(const std::string& block) { text_ += (text_.empty() ? "" : "\n") + block; }

  const PlotPaths& plots_;
  const std::vector<NamedPlot>& drawn_;
  std::vector<Line> headings_;
  std::size_t contents_at_ = std::string::npos;
  std::string text_;
};

}  // namespace

std::string markdown_page(const std::vector<NamedPlot>& plots, const PlotPaths& paths, const WriteDocument& write) {
  MarkdownWriter writer(plots, paths);
  write(writer);
  return writer.take();
}

std::string render_markdown(const ReportModel& model, const PlotPaths& plots) {
  return markdown_page(draw_plots(model), plots, [&](Writer& writer) { write_document(model, writer); });
}

}  // namespace apo::report
