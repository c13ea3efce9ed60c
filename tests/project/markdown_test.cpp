// tests/project/markdown_test.cpp - commands and mentions are read from documents as a reader would read them.
#include "tests/project/markdown.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace apo {
namespace {

using Words = std::vector<std::string>;

Words texts(std::string_view document) {
  Words found;
  for (const DocumentCommand& command : commands_of(document)) {
    found.push_back((command.runs ? "" : "skipped: ") + command.text);
  }
  return found;
}

// "line subcommand option", with - for what is not there.
Words mentioned(std::string_view document) {
  Words found;
  for (const Mention& mention : mentions_of(document)) {
    found.push_back(std::to_string(mention.line) + " " + (mention.subcommand.empty() ? "-" : mention.subcommand) + " " +
                    (mention.option.empty() ? "-" : mention.option));
  }
  return found;
}

std::string message(std::string_view document) {
  try {
    commands_of(document);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Documents, CommandsComeFromShellBlocksInOrder) {
  EXPECT_EQ(texts("apo outside\n```sh\n./apo run --json\ncat x\napo list\n```\n```cpp\napo in_cpp\n```\n"
                  "```\napo in_text\n```\n```sh\n$ apo report\n```\n"),
            (Words{"./apo run --json", "apo list", "apo report"}));
}

TEST(Documents, CommandsKnowTheirLine) {
  EXPECT_EQ(commands_of("# title\n\n```sh\n# comment\napo list\n```\n").at(0).line, 5);
}

TEST(Documents, OtherProgramsAreNotRun) {
  EXPECT_EQ(texts("```sh\napostrophe\ngit clone apo\n./apo.sh\ncmake --install build\n# apo list\n```"), Words());
}

TEST(Documents, ContinuedLinesAreOneCommand) {
  EXPECT_EQ(texts("```sh\napo compare a \\\n  b \\\n  --json\napo list\n```"),
            (Words{"apo compare a b --json", "apo list"}));
}

TEST(Documents, VariablesBeforeTheCommandStay) {
  EXPECT_EQ(texts("```sh\nAPO_JOURNAL=x.db APO_X= ./apo query | head\n```"),
            Words{"APO_JOURNAL=x.db APO_X= ./apo query | head"});
}

TEST(Documents, IndentedBlocksOfListsAreRead) {
  EXPECT_EQ(texts("- item\n  ```sh\n  apo list\n  ```\n"), Words{"apo list"});
}

TEST(Documents, NoRunBlocksAndTheTestSuiteAreSkipped) {
  EXPECT_EQ(
      texts("```sh norun: needs a GPU\napo run --target cuda\n```\n```sh\ntests/run -R x\n./tests/run\napo list\n```"),
      (Words{"skipped: apo run --target cuda", "skipped: tests/run -R x", "skipped: ./tests/run", "apo list"}));
}

TEST(Documents, NoRunWithoutAReasonIsAnError) {
  EXPECT_NE(message("```sh norun\napo list\n```").find("line 2: the block is tagged norun without a reason"),
            std::string::npos);
}

TEST(Documents, BlockWithoutAnEndIsAnErrorAtItsStart) {
  EXPECT_EQ(message("text\n```sh\napo list\n"), "line 2: this block does not end");
}

TEST(Documents, SubcommandsAndOptionsOfCommandsAreMentioned) {
  EXPECT_EQ(mentioned("```sh norun: long\n./apo run e88_backward --iterations=3 -q --json | jq --raw-output .x\n```"),
            (Words{"2 run -", "2 run --iterations", "2 run -q", "2 run --json"}));
}

TEST(Documents, InlineCodeIsMentionedToo) {
  EXPECT_EQ(mentioned("`apo gate` and `apo report --format html`, `--json`, `apo --version`, `cmake --install`, `apo`"),
            (Words{"1 gate -", "1 report -", "1 report --format", "1 - --json", "1 - --version"}));
}

TEST(Documents, PlaceholdersAreNeitherSubcommandsNorOptions) {
  EXPECT_EQ(mentioned("`apo COMMAND --help`, `apo run [FAMILY] [--json]`"),
            (Words{"1 - --help", "1 run -", "1 run --json"}));
}

TEST(Documents, OptionsOfAHelpTextAreFound) {
  EXPECT_EQ(options_in("Options:\n  -h,--help   Print this\n  --no-sanitizers TEXT ... see --json\n  a-b x--y"),
            (Words{"-h", "--help", "--no-sanitizers", "--json"}));
}

TEST(Documents, EmptyAndHostileTextIsHarmless) {
  EXPECT_EQ(texts(""), Words());
  EXPECT_EQ(mentioned("`` ` `--` `apo` ``` "), Words{});
  EXPECT_EQ(texts("```sh\napo list \\\n```"), Words{"apo list"});
}

}  // namespace
}  // namespace apo
