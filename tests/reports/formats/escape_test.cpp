// tests/reports/formats/escape_test.cpp - hostile text stays text in every format.
#include "reports/formats/escape.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/json/records_json.h"
#include "harness/core/text.h"
#include "reports/render.h"
#include "tests/reports/fixture.h"
#include "tests/reports/xml_check.h"

namespace apo::report {
namespace {

TEST(Escape, CleanTextIsValidUtf8WithoutControls) {
  EXPECT_EQ(clean_text("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(clean_text("a\r\nb\rc"), "a\nb\nc");
  EXPECT_EQ(clean_text("\x1b[31m"), "\xEF\xBF\xBD[31m");
  EXPECT_EQ(clean_text(std::string("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(clean_text("\xE2\x80\xAE"), "\xEF\xBF\xBD");                  // right-to-left override
  EXPECT_EQ(clean_text("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // an overlong '/'
  EXPECT_EQ(clean_text("\xED\xA0\x80").find('\xED'), std::string::npos);  // a surrogate
  EXPECT_EQ(clean_text("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // cut off
  EXPECT_EQ(clean_text("\xE2\x82\xAC \xF0\x9F\x9A\x80"), "\xE2\x82\xAC \xF0\x9F\x9A\x80");
}

TEST(Escape, MarkdownStaysInItsCell) {
  EXPECT_EQ(escape_markdown("a|b\nc"), "a\\|b c");
  EXPECT_EQ(escape_markdown("<b> & `x` *y*"), "&lt;b> &amp; \\`x\\` \\*y\\*");
  EXPECT_EQ(escape_markdown("n [1, 2] x"), "n [1, 2] x");
  EXPECT_EQ(escape_markdown("a [b](c) [d]"), "a [b\\](c) [d\\]");
  EXPECT_EQ(escape_markdown("[x]: y"), "\\[x\\]: y");
  EXPECT_EQ(escape_markdown("> no quote"), "\\> no quote");
  EXPECT_EQ(escape_markdown("---"), "\\---");
  EXPECT_EQ(escape_markdown("snake_case _emph_"), "snake_case \\_emph\\_");
  EXPECT_EQ(escape_markdown("# no heading"), "\\# no heading");
  EXPECT_EQ(escape_markdown("- no item"), "\\- no item");
  EXPECT_EQ(escape_markdown("1. no item"), "1\\. no item");
  EXPECT_EQ(escape_markdown("1.5 ms"), "1.5 ms");
}

TEST(Escape, CodeSpanSurvivesBackticksAndPipes) {
  EXPECT_EQ(markdown_code("a_b[C=1]"), "`a_b[C=1]`");
  EXPECT_EQ(markdown_code("a|b"), "<code>a\\|b</code>");
  EXPECT_EQ(markdown_code("a`b"), "<code>a\\`b</code>");
  EXPECT_EQ(markdown_code("</code>`<script>"), "<code>&lt;/code>\\`&lt;script></code>");
  EXPECT_EQ(markdown_code_block("x\n````\ny"), "`````\nx\n````\ny\n`````\n");
}

TEST(Escape, CsvFollowsRfc4180AndDefusesFormulas) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
}

// What stands outside fenced blocks.
std::string prose_of(const std::string& markdown) {
  std::string prose;
  std::string fence;  // of the block that is open; a shorter one inside is text
  for (const std::string& line : split(markdown, '\n')) {
    if (fence.empty() && line.rfind("```", 0) == 0) {
      fence = line;
    } else if (!fence.empty() && line == fence) {
      fence.clear();
    } else if (fence.empty()) {
      prose += line + "\n";
    }
  }
  return prose;
}

class Hostile : public ::testing::Test {
 protected:
  ReportModel model_ = build_model(fixture::hostile_campaign());
};

TEST_F(Hostile, HtmlHasNoScriptOfTheirsAndIsBalanced) {
  std::string html = render_html(model_);
  EXPECT_EQ(html.find("<script"), html.rfind("<script")) << "the page's own";
  EXPECT_EQ(html.find('\x1b'), std::string::npos);
  // What HTML leaves open and XML does not.
  html.erase(0, html.find("<title>"));
  html.erase(html.find("</head>"), std::string("</head>").size());
  html.erase(html.find("</html>"));
  EXPECT_EQ(xml_problem(html), "");
}

TEST_F(Hostile, HtmlLoadsNothingFromOutside) {
  const std::string html = render_html(model_);
  for (const char* loader : {" src=", "url(", "@import"}) {
    EXPECT_EQ(html.find(loader), std::string::npos) << loader;
  }
  for (std::size_t at = html.find(" href="); at != std::string::npos; at = html.find(" href=", at + 1)) {
    EXPECT_EQ(html.substr(at, 8), " href=\"#");
  }
}

TEST_F(Hostile, MarkdownHasNoTagLinkOrHeadingOfTheirs) {
  const std::string prose = prose_of(render_markdown(model_, {}));
  EXPECT_EQ(prose.find("<script"), std::string::npos);
  EXPECT_EQ(prose.find("x](http"), std::string::npos);
  EXPECT_NE(prose.find("x\\](http"), std::string::npos);
  EXPECT_EQ(prose.find("\n# heading"), std::string::npos);
  EXPECT_EQ(prose.find('\x1b'), std::string::npos);
}

TEST_F(Hostile, MarkdownTablesKeepTheirColumns) {
  std::size_t columns = 0;
  for (const std::string& line : split(prose_of(render_markdown(model_, {})), '\n')) {
    std::size_t bars = 0;
    for (std::size_t i = 0; !line.empty() && line[0] == '|' && i < line.size(); ++i) {
      bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1U : 0U;
    }
    EXPECT_TRUE(columns == 0 || bars == 0 || bars == columns) << line;
    columns = bars;
  }
}

TEST_F(Hostile, JsonParsesAndKeepsTheText) {
  const auto report = nlohmann::json::parse(render_json(model_));
  EXPECT_EQ(report["format"], kRecordsFormat);
  EXPECT_EQ(report["document"], "report");
  EXPECT_NE(report["machine"]["model"].get<std::string>().find("<script>alert(1)</script>"), std::string::npos);
}

}  // namespace
}  // namespace apo::report
