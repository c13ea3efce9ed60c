// reports/formats/html.cpp - writes the report as one HTML file with inline plots, without scripts or network.
#include "reports/formats/escape.h"
#include "reports/plots/plots.h"
#include "reports/render.h"
#include "reports/sections/document.h"

namespace apo::report {
namespace {

constexpr std::string_view kStyle = R"(<style>
:root{color-scheme:light dark}
body{font-family:system-ui,"Segoe UI",sans-serif;line-height:1.5;max-width:62rem;margin:2rem auto;padding:0 1rem;
color:#24292f;background:#ffffff}
h1,h2,h3{line-height:1.25;margin:1.8em 0 .6em;overflow-wrap:anywhere}h2{border-bottom:1px solid #d8dee4;padding-bottom:.2em}
.table{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}
th,td{border:1px solid #d8dee4;padding:.3em .6em;text-align:left;vertical-align:top}
th{background:#f3f5f7}code,pre{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.9em}
code{overflow-wrap:anywhere}pre{background:#f3f5f7;padding:.8em;overflow-x:auto}
figure{margin:1em 0;overflow-x:auto}figure svg{max-width:100%;height:auto}
@media (prefers-color-scheme:dark){
body{color:#e6edf3;background:#0d1117}h2,th,td{border-color:#2d333b}th,pre{background:#161b22}
}
</style>
)";

std::string inline_html(const Line& line) {
  std::string text;
  for (const Span& span : line) {
    const std::string escaped = escape_xml(span.text);
    const bool after = span.style == Style::strong && !escaped.empty() && escaped.back() == ' ';
    switch (span.style) {
      case Style::plain:
        text += escaped;
        break;
      case Style::code:
        text += "<code>" + escaped + "</code>";
        break;
      case Style::strong:
        text += "<strong>" + escaped.substr(0, escaped.size() - (after ? 1 : 0)) + "</strong>" + (after ? " " : "");
        break;
    }
  }
  return text;
}

class HtmlWriter : public Writer {
 public:
  explicit HtmlWriter(const ReportModel& model) : drawn_(draw_plots(model)) {}

  void heading(int level, const Line& line) override {
    const std::string tag = "h" + std::to_string(level);
    text_ += "<" + tag + ">" + inline_html(line) + "</" + tag + ">\n";
  }

  void paragraph(const Line& line) override { text_ += "<p>" + inline_html(line) + "</p>\n"; }

  void list(const std::vector<Line>& items) override {
    text_ += "<ul>\n";
    for (const Line& item : items) {
      text_ += "<li>" + inline_html(item) + "</li>\n";
    }
    text_ += "</ul>\n";
  }

  void table(const Table& table) override {
    text_ += "<div class=\"table\"><table>\n<thead><tr>";
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

  bool plot(const std::string& name) override {
    for (const NamedPlot& drawn : drawn_) {
      if (drawn.name == name) {
        text_ += "<figure>\n" + drawn.svg + "</figure>\n";
        return true;
      }
    }
    return false;
  }

  std::string take() { return std::move(text_); }

 private:
  std::vector<NamedPlot> drawn_;
  std::string text_;
};

}  // namespace

std::string render_html(const ReportModel& model) {
  HtmlWriter writer(model);
  write_document(model, writer);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
         escape_xml(report_title(model)) + "</title>\n" + std::string(kStyle) + "</head>\n<body>\n" + writer.take() +
         "</body>\n</html>\n";
}

}  // namespace apo::report
