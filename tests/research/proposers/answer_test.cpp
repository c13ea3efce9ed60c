// tests/research/proposers/answer_test.cpp - what is read of an answer, whatever a proposer prints.
#include "harness/research/proposers/answer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace apo {
namespace {

ProposerAnswer read(const std::string& output) {
  return read_answer(output, 3);
}

std::string why_not(const std::string& line) {
  const ProposerAnswer answer = read(line);
  EXPECT_TRUE(answer.candidates.empty()) << line;
  return answer.unread.empty() ? "" : answer.unread.front().why;
}

TEST(ProposerAnswer, ALineIsACandidateWithWhatItsAuthorSays) {
  const ProposerAnswer answer =
      read(R"({"source": "void f() {}\n", "extension": ".cpp", "name": "a", "author": "me", "parent": "copy/simple",)"
           R"( "techniques": ["unrolled-steps"], "idea": "Fewer\nbranches.", "predict": {"low": 1.1, "high": 1.2,)"
           R"( "because": "so"}, "tokens": 12, "usd": 0.5, "seconds": 3})");
  ASSERT_EQ(answer.candidates.size(), 1U);
  const ProposedCandidate& one = answer.candidates[0];
  EXPECT_EQ(one.source, "void f() {}\n");
  EXPECT_EQ(one.techniques, std::vector<std::string>{"unrolled-steps"});
  EXPECT_EQ(one.idea, "Fewer branches.") << "one line";
  EXPECT_EQ(one.prediction->high, 1.2);
  EXPECT_EQ(one.cost.tokens, 12);
}

TEST(ProposerAnswer, TextAroundTheLinesIsPassedOver) {
  const ProposerAnswer answer = read("Here is my idea:\n```json\n{\"variant\": \"copy/simple[A=1]\"}\n```\n{\n}\n");
  EXPECT_EQ(answer.candidates.size(), 1U);
  EXPECT_EQ(answer.candidates[0].line, 3);
  EXPECT_EQ(answer.chatter, 5);
  EXPECT_TRUE(answer.unread.empty());
}

TEST(ProposerAnswer, ALineOfCostsAloneIsTheCalls) {
  const ProposerAnswer answer = read("{\"tokens\": 100}\n{\"tokens\": 250, \"usd\": 1}");
  EXPECT_EQ(answer.cost.tokens, 250) << "the last word counts";
  EXPECT_TRUE(std::isnan(answer.cost.seconds));
  EXPECT_TRUE(answer.candidates.empty() && answer.unread.empty());
}

TEST(ProposerAnswer, CandidatesBeyondTheLimitAreCounted) {
  std::string output;
  for (int i = 0; i < 5; ++i) {
    output += "{\"variant\": \"copy/simple\"}\n";
  }
  EXPECT_EQ(read(output).candidates.size(), 3U);
  EXPECT_EQ(read(output).beyond, 2);
}

TEST(ProposerAnswer, MistakesAreNamed) {
  EXPECT_EQ(why_not(R"({"sorce": "x"})"), "unknown key 'sorce'; did you mean 'source'?");
  EXPECT_EQ(why_not(R"({"idea": "none"})"), "a candidate has one of 'source', 'file' and 'variant'");
  EXPECT_EQ(why_not(R"({"source": "x", "file": "y"})"), "a candidate has one of 'source', 'file' and 'variant'");
  EXPECT_EQ(why_not(R"({"source": 7})"), "'source' is no text");
  EXPECT_EQ(why_not(R"({"source": "x", "extension": ".so"})"), "'extension' is '.cpp', '.cu' or '.py'");
  EXPECT_EQ(why_not(R"({"source": "x", "tokens": -1})"), "'tokens' is no number that is 0 or more");
  EXPECT_EQ(why_not(R"({"source": "x", "techniques": "one"})"), "'techniques' is no list of at most 16 words");
  EXPECT_NE(why_not(R"({"source": "x", "predict": 2})").find("'predict' is no object"), std::string::npos);
  for (const char* band : {R"({"low": 2, "high": 1})", R"({"low": 0, "high": 1})", R"({"high": 1})", "{}"}) {
    EXPECT_NE(why_not(R"({"source": "x", "predict": )" + std::string(band) + "}").find("is no band"), std::string::npos)
        << band;
  }
}

TEST(ProposerAnswer, NonsenseIsNoCandidate) {
  EXPECT_EQ(why_not(R"({"source": "cut)"), "no JSON object: cut off, or not UTF-8");
  EXPECT_EQ(why_not("{\"source\": \"\xff\"}"), "no JSON object: cut off, or not UTF-8");
  EXPECT_EQ(why_not(R"({"source": "x", "tokens": 1e999})"), "no JSON object: cut off, or not UTF-8");
  EXPECT_NE(why_not("{\"source\": \"" + std::string(2U << 20, 'x') + "\"}").find("is longer than"), std::string::npos);
  EXPECT_EQ(why_not("[1, 2]"), "");
  EXPECT_EQ(why_not("\x01\x02 \xff\xfe"), "");
  EXPECT_EQ(why_not("{\"a\": " + std::string(100'000, '[')), "no JSON object: cut off, or not UTF-8");
}

}  // namespace
}  // namespace apo
