// tests/cli/improve/text_zoo_test.cpp - the texts of tests/zoo/text: none leaves its place or brings another file's
// text into an answer, the journal or a report.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/text.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

constexpr double kMostSeconds = 300;
// What /etc/passwd holds on every machine, and no text of the zoo.
constexpr const char* kSecret = "root:x:0";

struct HostileText {
  std::string name;
  std::string extension;
  std::string source;  // without the lines for the test
  std::string expect;
  std::string says;
};

std::vector<fs::path> zoo_files(bool proposals) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "text")) {
    if ((entry.path().extension() == ".json") == proposals) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

HostileText read_text(const fs::path& path) {
  HostileText text{.name = path.filename().string(), .extension = path.extension().string()};
  for (const std::string& line : split(read_file(path), '\n')) {
    if (line.starts_with("// zoo: expect ")) {
      text.expect = line.substr(15);
    } else if (line.starts_with("// zoo: says ")) {
      text.says = line.substr(13);
    } else {
      text.source += line + "\n";
    }
  }
  return text;
}

// Lines that a terminal shows as they are: nothing of the zoo's escapes, and no second verdict.
void expect_plain(const std::string& shown, const std::string& what) {
  int verdicts = 0;
  for (const std::string& line : split(shown, '\n')) {
    EXPECT_EQ(one_line(replace_all(line, "\t", " ")), replace_all(line, "\t", " ")) << what;
    verdicts += line.starts_with("verdict: ") ? 1 : 0;
    EXPECT_FALSE(line.starts_with("verdict: accepted")) << what << ": " << shown;
  }
  EXPECT_LE(verdicts, 1) << what << ": " << shown;
}

// Of markdown: what is not inside of a fence or a code span.
std::string without_code(const std::string& markdown) {
  std::string text;
  std::string fence;
  for (const std::string& line : split(markdown, '\n')) {
    if (fence.empty() && line.starts_with("```")) {
      fence = line.substr(0, line.find_first_not_of('`'));
    } else if (!fence.empty()) {
      fence = line == fence ? "" : fence;
    } else {
      const std::vector<std::string> parts = split(line, '`');
      for (std::size_t i = 0; i < parts.size(); i += 2) {
        text += parts[i] + " ";
      }
      text += "\n";
    }
  }
  return text;
}

// Of HTML: what is not preformatted.
std::string without_blocks(const std::string& html) {
  std::string text;
  for (std::size_t at = 0; at < html.size();) {
    const std::size_t block = html.find("<pre", at);
    text += html.substr(at, block - at);
    at = std::min(html.find("</pre>", std::min(block, html.size())), html.size());
  }
  return text;
}

void expect_harmless_journal(const Workplace& place) {
  for (const auto& entry : fs::recursive_directory_iterator(place.path(""))) {
    EXPECT_NE(entry.path().filename(), "owned") << "a shell has run it";
    if (entry.is_regular_file()) {
      EXPECT_EQ(read_file(entry.path()).find(kSecret), std::string::npos) << entry.path();
    }
  }
  for (const char* format : {"json", "csv", "html", "markdown"}) {
    const Ran report = place.apo({"report", "--format", format, "--output", "-"});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    EXPECT_EQ(report.out.find(kSecret), std::string::npos);
    const bool is_markdown = std::string(format) == "markdown";
    if (is_markdown || std::string(format) == "html") {
      const std::string live = is_markdown ? without_code(report.out) : report.out;
      expect_plain(is_markdown ? live : without_blocks(report.out), format);
      EXPECT_EQ(live.find("<script>alert"), std::string::npos) << format;
      EXPECT_EQ(live.find("<img src=x"), std::string::npos) << format;
      EXPECT_TRUE(!is_markdown || live.find("[x](javascript") == std::string::npos);
    }
  }
}

TEST(TextZoo, SourcesGetTheirVerdictAndShowNoOtherFile) {
  const Workplace place;
  std::string lines;
  std::vector<HostileText> texts;
  for (const fs::path& path : zoo_files(false)) {
    texts.push_back(read_text(path));
    const HostileText& text = texts.back();
    lines +=
        nlohmann::json{{"name", text.name}, {"source", text.source}, {"extension", text.extension}, {"judge", "quick"}}
            .dump() +
        "\n";
  }
  const Ran ran =
      place.apo_with_input({"evaluate", "--family", "copy", "--workload", "n4k", "--stream"}, lines, kMostSeconds);
  EXPECT_EQ((ran.out + ran.err).find(kSecret), std::string::npos);
  expect_plain(ran.err, "progress");
  const std::vector<std::string> answers = split(trim(ran.out), '\n');
  ASSERT_EQ(answers.size(), texts.size()) << ran.err;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto answer = nlohmann::json::parse(answers[i]);
    const std::string feedback = answer["feedback"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    EXPECT_EQ(answer["name"], texts[i].name);
    EXPECT_EQ(answer["verdict"], texts[i].expect) << texts[i].name << ": " << feedback;
    EXPECT_NE(feedback.find(texts[i].says), std::string::npos) << texts[i].name << ": " << feedback;
    if (!answer["experiment"].is_null()) {
      const std::string id = answer["experiment"]["id"].dump();
      expect_plain(place.apo({"show", id, "--log"}).out, texts[i].name);
    }
  }
  expect_harmless_journal(place);
}

TEST(TextZoo, WhatASourceSaysIsNoVerdictOfATerminal) {
  const Workplace place;
  for (const char* name : {"error_looks_like_a_verdict", "error_holds_html", "prints_a_verdict", "prints_and_ends"}) {
    const std::string file = std::string(name) + ".cpp";
    place.write(file, read_text(fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "text" / file).source);
    const Ran ran = place.apo({"evaluate", file, "--family", "copy", "--workload", "n4k", "--judge", "quick"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_NE(ran.out.find("\nverdict: wrong\n"), std::string::npos) << ran.out;
    expect_plain(ran.out + ran.err, name);
  }
  const auto escapes = nlohmann::json::parse(
      read_file(fs::path(APO_SOURCE_FOLDER) / "tests" / "zoo" / "text" / "source_holds_escapes.json"));
  place.write("escapes.cpp", escapes["line"]["source"]);
  const Ran registered = place.apo({"register", "escapes.cpp", "--family", "copy"});
  EXPECT_EQ(registered.exit_code, 3) << registered.err;
  EXPECT_NE(registered.err.find("verdict: accepted"), std::string::npos) << "the compiler's words are shown";
  expect_plain(registered.out + registered.err, "register");
}

TEST(TextZoo, ProposalsStayOnTheirLine) {
  const Workplace place;
  std::string answer;
  std::vector<nlohmann::json> texts;
  for (const fs::path& path : zoo_files(true)) {
    texts.push_back(nlohmann::json::parse(read_file(path)));
    texts.back()["name"] = path.stem().string();
    answer += texts.back()["line"].dump() + "\n";
  }
  place.write("answer", answer);
  const Ran ran = place.apo({"run", "copy", "--workload", "n4k", "--iterations", "1", "--candidates", "1",
                             "--proposals", "40", "--proposer", "cat answer", "--json"},
                            kMostSeconds);
  if (ran.exit_code == 2 && ran.err.find("A/A sentinel") != std::string::npos) {
    GTEST_SKIP() << ran.err;
  }
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  expect_plain(ran.err, "progress");
  const auto call = only_document(ran)["proposer_calls"][0];
  ASSERT_EQ(call["proposals"].size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& text = texts[i];
    const auto& proposal = call["proposals"][i];
    EXPECT_EQ(proposal["state"], text["expect"]) << text["name"] << proposal;
    EXPECT_NE(proposal["why"].dump().find(text["why"]), std::string::npos) << text["name"] << proposal;
    if (proposal["state"] == "taken") {
      const std::string id = proposal["configuration"]["variant"];
      EXPECT_TRUE(is_identifier(id.substr(id.find('/') + 1))) << id;
      const std::string idea = proposal["idea"];
      EXPECT_EQ(one_line(idea), idea) << text["name"];
    }
  }
  expect_harmless_journal(place);
}

}  // namespace
}  // namespace apo
