// reports/formats/html.cpp - writes the report as one HTML file: inline plots, light and dark, one small script, no
// network.
#include <fmt/format.h>

#include <utility>

#include "harness/core/text.h"
#include "reports/formats/escape.h"
#include "reports/formats/page_parts.h"
#include "reports/formats/pages.h"

namespace apo::report {
namespace {

std::string tagged(const std::string& tag, const std::string& escaped) {
  return fmt::format("<{0}>{1}</{0}>", tag, escaped);
}

std::string span_html(const Span& span) {
  const std::string escaped = escape_xml(span.text);
  switch (span.style) {
    case Style::plain:
      return escaped;
    case Style::code:
      return tagged("code", escaped);
    case Style::verdict:
      return fmt::format("<span class=\"verdict {0}\">{0}</span>", escaped);
    case Style::strong:
      break;
  }
  const bool after = !escaped.empty() && escaped.back() == ' ';  // a space at the end separates from what follows
  return tagged("strong", escaped.substr(0, escaped.size() - (after ? 1 : 0))) + (after ? " " : "");
}

struct Heading {
  std::string id;
  Line line;
};

class HtmlWriter : public Writer {
 public:
  explicit HtmlWriter(const std::vector<NamedPlot>& plots) : plots_(plots) {}

  void heading(int level, const Line& line) override {
    const std::string id = slug(line);
    if (level == 2) {
      headings_.push_back({id, line});
    }
    text_ += fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, id, inline_html(line));
  }

  void contents() override { contents_at_ = text_.size(); }
  void lead(const Line& line) override { text_ += "<p class=\"lead\">" + inline_html(line) + "</p>\n"; }
  void paragraph(const Line& line) override { text_ += "<p>" + inline_html(line) + "</p>\n"; }

  void list(const std::vector<Line>& items) override {
    text_ += "<ul>\n";
    for (const Line& item : items) {
      text_ += "<li>" + inline_html(item) + "</li>\n";
    }
    text_ += "</ul>\n";
  }

  void table(const Table& table) override {
    text_ += "<div class=\"table\" tabindex=\"0\"><table";
    text_ += table.sortable ? " class=\"sortable\">\n<thead><tr>" : ">\n<thead><tr>";
    for (const std::string& title : table.header) {
      text_ += "<th scope=\"col\">" + escape_xml(title) + "</th>";
    }
    text_ += "</tr></thead>\n<tbody>\n";
    for (const std::vector<Line>& row : table.rows) {
      text_ += "<tr>";
      for (const Line& cell : row) {
        text_ += "<td>" + inline_html(cell) + "</td>";
      }
      text_ += "</tr>\n";
    }
    text_ += "</tbody></table></div>\n";
  }

  void code_block(const std::string& text) override { text_ += "<pre>" + escape_xml(text) + "</pre>\n"; }

  void diff(const std::string& text) override {
    text_ += "<pre class=\"diff\">";
    for (const std::string& line : split(trim(text), '\n')) {
      const bool names = line.starts_with("+++ ") || line.starts_with("--- ");
      const char* change = names                   ? "same"
                           : line.starts_with("+") ? "added"
                           : line.starts_with("-") ? "removed"
                                                   : "same";
      text_ += fmt::format("<span class=\"{}\">{}</span>\n", change, escape_xml(line));
    }
    text_ += "</pre>\n";
  }

  // The target is inside, so that following a link to it opens the fold.
  void begin_fold(const Line& summary, const std::string& id) override {
    text_ += "<details><summary>" + inline_html(summary) + "</summary>\n";
    text_ += id.empty() ? "<div>\n" : "<div id=\"" + id + "\">\n";
  }
  void end_fold() override { text_ += "</div></details>\n"; }

  bool plot(const std::string& name) override {
    for (const NamedPlot& drawn : plots_) {
      if (drawn.name == name) {
        text_ += "<figure tabindex=\"0\">\n" + drawn.svg + "</figure>\n";
        return true;
      }
    }
    return false;
  }

  std::string take() {
    if (contents_at_ != std::string::npos) {
      std::string links = "<nav aria-label=\"Contents\"><ul>\n";
      for (const Heading& heading : headings_) {
        links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", heading.id, inline_html(heading.line));
      }
      text_.insert(contents_at_, links + "</ul></nav>\n");
    }
    return std::move(text_);
  }

 private:
  const std::vector<NamedPlot>& plots_;
  std::vector<Heading> headings_;
  std::size_t contents_at_ = std::string::npos;
  std::string text_;
};

}  // namespace

std::string inline_html(const Line& line) {
  std::string text;
  for (const Span& span : line) {
    const std::string shown = span_html(span);
    text += span.link.empty() ? shown : fmt::format("<a href=\"{}\">{}</a>", escape_xml(span.link), shown);
  }
  return text;
}

std::string slug(const Line& line) {
  std::string id;
  for (const Span& span : line) {
    for (const char c : span.text) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
      id += letter                 ? std::string(1, c)
            : c == ' '             ? "-"
            : c >= 'A' && c <= 'Z' ? std::string(1, static_cast<char>(c + 32))
                                   : "";
    }
  }
  return id;
}

std::string html_page(const std::string& title, const std::vector<NamedPlot>& plots, const WriteDocument& write) {
  HtmlWriter writer(plots);
  write(writer);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>\n{}</style>\n<script>\n{}</script>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      escape_xml(title), kPageStyle, kPageScript, writer.take());
}

std::string render_html(const ReportModel& model) {
  return html_page(report_title(model), draw_plots(model), [&](Writer& writer) { write_document(model, writer); });
}

}  // namespace apo::report
