// tests/mcp/protocol/message_test.cpp - lines, and what is no message.
#include "harness/mcp/protocol/message.h"

#include <gtest/gtest.h>

namespace apo::mcp {
namespace {

std::vector<std::string> texts(const std::vector<LineReader::Line>& lines) {
  std::vector<std::string> all;
  for (const LineReader::Line& line : lines) {
    all.push_back(line.too_long ? "too long" : line.text);
  }
  return all;
}

using Texts = std::vector<std::string>;

ErrorCode code_of(const std::string& line) {
  try {
    message_of(parse_line(line));
  } catch (const ProtocolError& error) {
    return error.code();
  }
  ADD_FAILURE() << line << " is a message";
  return kInternalError;
}

TEST(LineReader, CutsAtNewlinesHoweverTheBytesArrive) {
  LineReader reader;
  EXPECT_EQ(texts(reader.feed("a\nb")), Texts{"a"});
  EXPECT_EQ(texts(reader.feed("")), Texts{});
  EXPECT_EQ(texts(reader.feed("c\n\nd")), (Texts{"bc", ""}));
  EXPECT_EQ(texts(reader.feed("\n")), Texts{"d"});
}

TEST(LineReader, ALineThatIsTooLongIsSkippedToItsEnd) {
  LineReader reader(4);
  EXPECT_EQ(texts(reader.feed("1234\n12345")), Texts{"1234"});
  EXPECT_EQ(texts(reader.feed("67890123456789")), Texts{});
  EXPECT_EQ(texts(reader.feed("0\nok\n")), (Texts{"too long", "ok"}));
}

TEST(Message, RequestsAndNotificationsDifferByTheirId) {
  const auto request = message_of(parse_line(R"({"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}})"));
  EXPECT_EQ(*request->id, "a");
  EXPECT_EQ(request->method, "m");
  EXPECT_EQ(request->params["x"], 1);
  EXPECT_FALSE(message_of(parse_line(R"({"jsonrpc":"2.0","method":"m"})"))->id);
}

TEST(Message, AnAnswerIsNoneForUs) {
  EXPECT_FALSE(message_of(parse_line(R"({"jsonrpc":"2.0","id":1,"result":{}})")));
  EXPECT_FALSE(message_of(parse_line(R"({"jsonrpc":"2.0","id":1,"error":{}})")));
}

TEST(Message, WhatIsNoJsonIsAParseError) {
  for (const char* line : {"not json", "{", "{}{}", "\"\xff\xfe\"", "{\"a\":\"\xc0\xaf\"}", "nul", "[1,"}) {
    EXPECT_EQ(code_of(line), kParseError) << line;
  }
}

TEST(Message, WhatIsNestedDeeplyIsRefusedBeforeItIsParsed) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(code_of(deep + std::string(1'000'000, ']')), kParseError);
  const std::string brackets_in_text = R"({"jsonrpc":"2.0","method":"m","params":{"x":")" + deep + R"(\"["}})";
  EXPECT_TRUE(message_of(parse_line(brackets_in_text)));
}

TEST(Message, WhatIsNoMessageIsAnInvalidRequest) {
  for (const char* line :
       {"1", "null", "\"text\"", "{}", R"({"jsonrpc":"1.0","id":1,"method":"m"})",
        R"({"jsonrpc":2.0,"id":1,"method":"m"})", R"({"jsonrpc":"2.0","id":1})",
        R"({"jsonrpc":"2.0","id":1,"method":7})", R"({"jsonrpc":"2.0","id":null,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", R"({"jsonrpc":"2.0","id":[1],"method":"m"})"}) {
    EXPECT_EQ(code_of(line), kInvalidRequest) << line;
  }
  EXPECT_EQ(code_of(R"({"jsonrpc":"2.0","id":1,"method":"m","params":[1]})"), kInvalidParams);
}

TEST(Message, BytesThatAreNoUtf8AreReplacedOnTheWayOut) {
  EXPECT_EQ(line_of({{"text", "a\xff\nb"}}), "{\"text\":\"a\xef\xbf\xbd\\nb\"}");
}

}  // namespace
}  // namespace apo::mcp
