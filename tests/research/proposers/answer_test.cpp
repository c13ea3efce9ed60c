// tests/research/proposers/answer_test.cpp - what is read of an answer, whatever a proposer prints.
#include "harness/research/proposers/answer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace apo {
namespace {

ProposerAnswer read(const std::string& output) {
  return read_answer(output, 3);
}

// The fault of the only line; "" where it is no line of a candidate.
std::string why_not(const std::string& line) {
  const ProposerAnswer answer = read(line);
  EXPECT_LE(answer.candidates.size(), 1U) << line;
  return answer.candidates.empty() ? "" : answer.candidates.front().fault;
}

TEST(ProposerAnswer, ALineIsACandidateWithWhatItsAuthorSays) {
  const ProposerAnswer answer =
      read(R"({"source": "void f() {}\n", "extension": ".cpp", "name": "a", "author": "me", "parent": "copy/simple",)"
           R"( "techniques": ["unrolled-steps"], "idea": "Fewer\nbranches.", "predict": {"low": 1.1, "high": 1.2,)"
           R"( "because": "so"}, "tokens": 12, "usd": 0.5, "seconds": 3})");
  ASSERT_EQ(answer.candidates.size(), 1U);
  const ProposedCandidate& one = answer.candidates[0];
  EXPECT_EQ(one.fault, "");
  EXPECT_EQ(one.source, "void f() {}\n");
  EXPECT_EQ(one.techniques, std::vector<std::string>{"unrolled-steps"});
  EXPECT_EQ(one.idea, "Fewer branches.") << "one line";
  EXPECT_EQ(one.prediction->high, 1.2);
  EXPECT_EQ(one.cost.tokens, 12);
}

TEST(ProposerAnswer, TextAroundTheLinesIsPassedOverAndCounted) {
  const ProposerAnswer answer = read("Here is my idea:\n```json\n{\"variant\": \"copy/simple[A=1]\"}\n```\n{\n}\n");
  EXPECT_EQ(answer.candidates.size(), 1U);
  EXPECT_EQ(answer.candidates[0].line, 3);
  EXPECT_EQ(answer.text_lines, 5);
  EXPECT_EQ(answer.first_text_line, 1);
  EXPECT_EQ(read("\n{\"variant\": \"copy/simple\"}\n\nDone.").first_text_line, 4) << "blank lines are no text";
}

TEST(ProposerAnswer, ABrokenLineBesideAGoodOneIsListedWithItsNumber) {
  const ProposerAnswer answer =
      read("{\"variant\": \"copy/a\"}\n{\"source\": \"cut\n[{\"variant\": \"copy/b\"}]\n{\"variant\": \"copy/c\"}\n");
  ASSERT_EQ(answer.candidates.size(), 4U);
  EXPECT_EQ(answer.candidates[0].fault + answer.candidates[3].fault, "");
  EXPECT_EQ(answer.candidates[1].line, 2);
  EXPECT_EQ(answer.candidates[1].fault, "no JSON from byte 16 on: cut off, or not UTF-8");
  EXPECT_EQ(answer.candidates[2].line, 3);
  EXPECT_EQ(answer.candidates[2].fault, "it is no JSON object; each candidate is an object on a line of its own");
  EXPECT_EQ(answer.text_lines, 0);
}

TEST(ProposerAnswer, ALineWithAFaultKeepsWhatItsAuthorCallsIt) {
  const ProposerAnswer answer = read(R"({"source": "x", "name": "fast\u001b[31m", "author": "me", "confidence": 0.7})"
                                     "\n"
                                     R"({"variant": "copy/parallel[A=1]", "file": "a.cpp", "name": 7})");
  ASSERT_EQ(answer.candidates.size(), 2U);
  EXPECT_EQ(answer.candidates[0].name, "fast [31m");
  EXPECT_EQ(answer.candidates[0].author, "me");
  EXPECT_EQ(answer.candidates[1].variant, "copy/parallel[A=1]");
  EXPECT_EQ(answer.candidates[1].file, "a.cpp");
  EXPECT_EQ(answer.candidates[1].name, "");
}

TEST(ProposerAnswer, ALineOfCostsAloneIsTheCalls) {
  const ProposerAnswer answer = read("{\"tokens\": 100}\n{\"tokens\": 250, \"usd\": 1, \"author\": \"me\"}");
  EXPECT_EQ(answer.cost.tokens, 250) << "the last word counts";
  EXPECT_TRUE(std::isnan(answer.cost.seconds));
  EXPECT_TRUE(answer.candidates.empty());
}

TEST(ProposerAnswer, CandidatesBeyondTheLimitAreRefusedEachByItsLine) {
  std::string output = "{\"sorce\": \"x\"}\n";
  for (int i = 0; i < 5; ++i) {
    output += "{\"variant\": \"copy/simple\", \"tokens\": 7}\n";
  }
  const ProposerAnswer answer = read(output);
  ASSERT_EQ(answer.candidates.size(), 6U);
  EXPECT_EQ(answer.candidates[3].fault, "") << "a line with a fault takes nobody's place";
  EXPECT_EQ(answer.candidates[4].fault, "no more than 3 candidates of an answer are read");
  EXPECT_EQ(answer.candidates[4].cost.tokens, 7) << "it was paid for";
  EXPECT_EQ(answer.candidates[5].line, 6);
  EXPECT_EQ(answer.unlisted, 0);
}

TEST(ProposerAnswer, AFloodOfFaultsIsListedInPartAndHidesNoCandidate) {
  std::string output;
  for (int i = 0; i < 80; ++i) {
    output += "{\"sorce\": \"x\"}\n";
  }
  const ProposerAnswer answer = read(output + "{\"variant\": \"copy/simple\"}");
  ASSERT_EQ(answer.candidates.size(), 51U);
  EXPECT_EQ(answer.unlisted, 30);
  EXPECT_EQ(answer.candidates.back().fault, "");
}

TEST(ProposerAnswer, MistakesAreNamed) {
  const std::string known =
      "known: source, file, extension, variant, name, author, parent, idea, techniques, predict, tokens, usd, seconds";
  EXPECT_EQ(why_not(R"({"sorce": "x"})"), "unknown key 'sorce', did you mean 'source'?; " + known);
  EXPECT_EQ(why_not(R"({"source": "x", "reasoning": "long"})"), "unknown key 'reasoning'; " + known);
  EXPECT_EQ(why_not(R"({"source": "x", "predict": {"low": 1, "high": 2, "reason": "so"}})"),
            "unknown key 'reason' of 'predict'; known: low, high, because");
  EXPECT_EQ(why_not(R"({"idea": "none"})"), "a candidate has one of 'source', 'file' and 'variant'");
  EXPECT_EQ(why_not(R"({"source": "x", "file": "y"})"), "a candidate has one of 'source', 'file' and 'variant'");
  EXPECT_EQ(why_not(R"({"source": 7})"), "'source' is no text");
  EXPECT_EQ(why_not(R"({"source": "x", "extension": ".so"})"), "'extension' is '.cpp', '.cu' or '.py'");
  EXPECT_EQ(why_not(R"({"source": "x", "tokens": -1})"), "'tokens' is no number that is 0 or more");
  EXPECT_EQ(why_not(R"({"source": "x", "techniques": "one"})"), "'techniques' is no list of at most 16 texts");
  EXPECT_NE(why_not(R"({"source": "x", "predict": 2})").find("'predict' is no object"), std::string::npos);
  for (const char* band : {R"({"low": 2, "high": 1})", R"({"low": 0, "high": 1})", R"({"high": 1})", "{}"}) {
    EXPECT_NE(why_not(R"({"source": "x", "predict": )" + std::string(band) + "}").find("is no band"), std::string::npos)
        << band;
  }
}

TEST(ProposerAnswer, NonsenseIsNoCandidate) {
  EXPECT_EQ(why_not(R"({"source": "cut)"), "no JSON from byte 16 on: cut off, or not UTF-8");
  EXPECT_EQ(why_not("{\"source\": \"\xff\"}"), "no JSON from byte 13 on: cut off, or not UTF-8");
  EXPECT_EQ(why_not(R"({"source": "x", "tokens": 1e999})"), "it has a number that is out of range");
  EXPECT_NE(why_not("{\"source\": \"" + std::string(2U << 20, 'x') + "\"}").find("is longer than"), std::string::npos);
  EXPECT_EQ(why_not("[1, 2]"), "");
  EXPECT_EQ(why_not("\x01\x02 \xff\xfe"), "");
  EXPECT_NE(why_not("{\"a\": " + std::string(100'000, '[')).find("cut off"), std::string::npos);
}

}  // namespace
}  // namespace apo
