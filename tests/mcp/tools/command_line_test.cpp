// tests/mcp/tools/command_line_test.cpp - arguments become words, and never options.
#include "harness/mcp/tools/command_line.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/mcp/tools/tools.h"

namespace apo::mcp {
namespace {

using Words = std::vector<std::string>;

class CommandLines : public ::testing::Test {
 protected:
  CommandLine line(const std::string& tool, const Json& arguments) const {
    return find_tool(tool)->command(arguments, Root(folder_.path()));
  }
  std::string refusal(const std::string& tool, const Json& arguments) const {
    try {
      line(tool, arguments);
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  }
  TemporaryFolder folder_;
};

TEST_F(CommandLines, EachArgumentHasItsPlace) {
  EXPECT_EQ(line("compare", {{"a", "copy/simple"}, {"b", "copy/memcpy"}, {"workload", "n4k"}, {"cache", "warm"}}).words,
            (Words{"compare", "copy/simple", "copy/memcpy", "--workload=n4k", "--cache=warm"}));
  EXPECT_EQ(line("query", {{"where", {"verdict=accepted", "speedup>1.05"}}, {"limit", 5}, {"sort", "-speedup"}}).words,
            (Words{"query", "verdict=accepted", "speedup>1.05", "--sort=-speedup", "--limit=5"}));
  EXPECT_EQ(line("show", {{"id", "12"}, {"log", true}, {"source", false}}).words, (Words{"show", "12", "--log"}));
  EXPECT_EQ(line("doctor", Json::object()).words, Words{"doctor"});
}

TEST_F(CommandLines, ASourceIsGivenOnStandardInput) {
  const std::string source = "--help\nvoid copy() {}\n\x01";
  const CommandLine evaluate =
      line("evaluate", {{"source", source}, {"family", "copy"}, {"at_least", 1.5}, {"judge", "strict"}});
  EXPECT_EQ(evaluate.words, (Words{"evaluate", "-", "--family=copy", "--at-least=1.5", "--judge=strict"}));
  EXPECT_EQ(line("evaluate", {{"variant", "copy/parallel[KILOBYTES_PER_THREAD=64]"}, {"family", "copy"}}).words,
            (Words{"evaluate", "copy/parallel[KILOBYTES_PER_THREAD=64]", "--family=copy"}));
  EXPECT_EQ(evaluate.input, source);
  EXPECT_EQ(line("verify", {{"source", source}, {"family", "copy"}}).words,
            (Words{"verify", "--file=-", "--family=copy"}));
  EXPECT_EQ(line("register", {{"source", source}}).words, (Words{"register", "-"}));
}

TEST_F(CommandLines, APathIsGivenWholeAndFromTheRoot) {
  write_file_atomically(folder_.path() / "-x.cpp", "a");
  const std::string whole = std::filesystem::canonical(folder_.path() / "-x.cpp").string();
  EXPECT_EQ(line("evaluate", {{"path", "-x.cpp"}, {"family", "copy"}}).words,
            (Words{"evaluate", whole, "--family=copy"}));
  EXPECT_NE(refusal("evaluate", {{"path", "../x.cpp"}, {"family", "copy"}}).find("outside"), std::string::npos);
}

TEST_F(CommandLines, NoValueBecomesAnOption) {
  for (const std::string value : {"--help", "-", "-v", "--journal=/tmp/x"}) {
    EXPECT_NE(refusal("show", {{"id", value}}).find("begins with a dash"), std::string::npos) << value;
    EXPECT_NE(refusal("query", {{"where", {"a=b", value}}}).find("begins with a dash"), std::string::npos) << value;
    EXPECT_EQ(line("lessons", {{"family", value}}).words, (Words{"lessons", "--family=" + value}));
  }
}

TEST_F(CommandLines, WhatIsNoWordIsRefused) {
  EXPECT_NE(refusal("list", {{"family", std::string("a\0b", 3)}}).find("control character"), std::string::npos);
  EXPECT_NE(refusal("list", {{"family", "a\nb"}}).find("control character"), std::string::npos);
  EXPECT_NE(refusal("list", {{"family", std::string(5000, 'a')}}).find("longer than"), std::string::npos);
}

TEST_F(CommandLines, ACandidateIsGivenInOneWay) {
  for (const std::string tool : {"evaluate", "verify"}) {
    EXPECT_EQ(refusal(tool, {{"family", "copy"}}), "neither 'path' nor 'source' nor 'variant' was given") << tool;
    EXPECT_EQ(refusal(tool, {{"path", "a"}, {"source", "b"}}), "'path' and 'source' were given together") << tool;
    EXPECT_EQ(refusal(tool, {{"source", "b"}, {"variant", "copy/simple"}}),
              "'source' and 'variant' were given together")
        << tool;
  }
  EXPECT_EQ(refusal("register", {{"family", "copy"}}), "neither 'path' nor 'source' was given");
  EXPECT_EQ(line("verify", {{"variant", "copy/simple"}}).words, (Words{"verify", "copy/simple"}));
}

TEST_F(CommandLines, ASourceHasOneMebibyteAtMost) {
  EXPECT_NE(refusal("evaluate", {{"source", ""}}).find("empty"), std::string::npos);
  EXPECT_EQ(refusal("evaluate", {{"source", std::string(1 << 20, ' ')}}), "");
  EXPECT_NE(refusal("evaluate", {{"source", std::string((1 << 20) + 1, ' ')}}).find("longer than 1 MiB"),
            std::string::npos);
}

}  // namespace
}  // namespace apo::mcp
