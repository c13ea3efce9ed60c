// reports/formats/html.cpp - writes the report as one HTML file: inline plots, light and dark, one small script, no
// network.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "harness/core/text.h"
#include "reports/formats/escape.h"
#include "reports/formats/pages.h"

namespace apo::report {
namespace {

// The contents stand beside the text where there is room. Tables and plots scroll in themselves, the page never does.
constexpr std::string_view kPageStyle = R"(:root{color-scheme:light dark;
--text:#1f2328;--faint:#57606a;--ground:#ffffff;--panel:#f6f8fa;--line:#d8dee4;--link:#0b62c4;
--good:#0072b2;--bad:#b84a00;--added:#dafbe1;--removed:#ffebe9}
@media (prefers-color-scheme:dark){:root{
--text:#e6edf3;--faint:#9da7b1;--ground:#0d1117;--panel:#161b22;--line:#2d333b;--link:#6cb2ff;
--good:#58b4f0;--bad:#ff9a57;--added:#12361f;--removed:#471c20}}
*{box-sizing:border-box}html{scroll-padding-top:1rem}
body{margin:0;font:1rem/1.55 system-ui,"Segoe UI","DejaVu Sans",sans-serif;color:var(--text);background:var(--ground)}
main{max-width:62rem;margin:0 auto;padding:1.5rem 1rem 4rem}
h1,h2,h3{line-height:1.25;margin:2.2em 0 .6em;overflow-wrap:anywhere}h1{margin-top:0;font-size:1.7rem}
h2{font-size:1.3rem;border-bottom:1px solid var(--line);padding-bottom:.25em}h3{font-size:1.05rem}
p,li{overflow-wrap:anywhere}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
.lead{font-size:1.1rem;margin:0 0 1rem;padding:.8rem 1rem;background:var(--panel);border-left:4px solid var(--good)}
.lead strong{font-size:1.25rem}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;list-style:none;margin:1rem 0;padding:.6rem 0;font-size:.92rem;
border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.table,figure,pre{overflow-x:auto;margin:1em 0}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{border-bottom:1px solid var(--line);padding:.35em .7em;text-align:left;vertical-align:top;min-width:4.5em}
th{background:var(--panel);white-space:nowrap}tbody tr:hover{background:var(--panel)}
td:has(code){min-width:11em}
.sortable th{cursor:pointer}.sortable th::after{content:" \2195";color:var(--faint)}
.sortable th[aria-sort=ascending]::after{content:" \2191"}.sortable th[aria-sort=descending]::after{content:" \2193"}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:.9em}code{overflow-wrap:anywhere}
pre{background:var(--panel);padding:.8em 1em;line-height:1.45;border-radius:6px}
.diff span{display:inline-block;min-width:100%}.added{background:var(--added)}.removed{background:var(--removed)}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:0 .9rem}
details>div{padding-bottom:.6rem}summary{cursor:pointer;padding:.5rem 0;overflow-wrap:anywhere}
.verdict{font-weight:600}.accepted{color:var(--good)}.reverted{color:var(--bad)}.inconclusive{color:var(--faint)}
figure svg{display:block;max-width:100%;min-width:34rem;height:auto}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
@media (min-width:84rem){main{margin-left:18rem;max-width:64rem}
nav{position:fixed;top:1.5rem;left:1.5rem;width:14.5rem}nav ul{display:block;border:0}nav li{margin:.35rem 0}}
@media print{:root{color-scheme:light;--text:#000;--ground:#fff;--panel:#f6f8fa;--line:#ccc;--link:#000;
--good:#004f7c;--bad:#8a3700;--added:#dafbe1;--removed:#ffebe9}
nav{display:none}main{max-width:none;margin:0;padding:0}.table,pre,figure{overflow:visible}pre{white-space:pre-wrap}
table{font-size:.75rem}th{white-space:normal}tr,figure{break-inside:avoid}h2,h3,summary{break-after:avoid}
figure svg{min-width:0}.sortable th::after{content:""}}
)";

// Sorts tables by a click or Enter on a heading, opens the fold that a link leads into, and all folds for printing.
// What was not measured comes last in both orders. Without "<" and "&", so that the page is also well-formed XML.
constexpr std::string_view kPageScript = R"("use strict";
addEventListener("DOMContentLoaded", function () {
  function value(row, column) {
    const text = row.cells[column].textContent.trim();
    const number = parseFloat(text);
    return Number.isNaN(number) ? text : number;
  }
  function order(a, b, sign) {
    const numbers = (typeof a === "number") + (typeof b === "number");
    if (numbers === 1) return typeof a === "number" ? -1 : 1;
    return sign * (numbers === 2 ? a - b : a.localeCompare(b));
  }
  function sort(heading) {
    const table = heading.closest("table"), column = heading.cellIndex;
    const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort(function (a, b) { return order(value(a, column), value(b, column), sign); });
    table.tBodies[0].append(...rows);
  }
  for (const heading of document.querySelectorAll(".sortable th")) {
    heading.tabIndex = 0;
    heading.addEventListener("click", function () { sort(heading); });
    heading.addEventListener("keydown", function (event) { if (event.key === "Enter") sort(heading); });
  }
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = target ? target.closest("details") : null;
    if (fold) { fold.open = true; fold.scrollIntoView(); }
  }
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", function () {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
  reveal();
});
)";

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
