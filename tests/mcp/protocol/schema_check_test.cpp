// tests/mcp/protocol/schema_check_test.cpp - faults of arguments, in words that name the fix.
#include "harness/mcp/protocol/schema_check.h"

#include <gtest/gtest.h>

namespace apo::mcp {
namespace {

const Json kSchema = Json::parse(R"({"type":"object","properties":{
  "family":{"type":"string","minLength":1},
  "cache":{"type":"string","enum":["cold","warm"]},
  "seconds":{"type":"number","minimum":0,"maximum":25},
  "limit":{"type":"integer","minimum":1},
  "source":{"type":"boolean"},
  "where":{"type":"array","maxItems":2,"items":{"type":"string","minLength":1}},
  "experiment":{"type":["object","null"]}},
  "required":["family"],"additionalProperties":false})");

std::string fault(const std::string& text) {
  return schema_fault(Json::parse(text), kSchema);
}

TEST(SchemaCheck, WhatFitsHasNoFault) {
  EXPECT_EQ(fault(R"({"family":"copy"})"), "");
  EXPECT_EQ(fault(R"({"family":"copy","cache":"warm","seconds":2.5,"limit":3,"source":true,"where":["a","b"]})"), "");
  EXPECT_EQ(fault(R"({"family":"copy","experiment":null})"), "");
  EXPECT_EQ(fault(R"({"family":"copy","experiment":{"any":"thing"},"seconds":25})"), "");
}

TEST(SchemaCheck, AFaultNamesTheArgumentAndWhatItMustBe) {
  EXPECT_EQ(fault("[]"), "the value must be of type object");
  EXPECT_EQ(fault("{}"), "'family' is missing");
  EXPECT_EQ(fault(R"({"family":7})"), "'family' must be of type string");
  EXPECT_EQ(fault(R"({"family":""})"), "'family' must not be empty");
  EXPECT_EQ(fault(R"({"family":"copy","cache":"hot"})"), "'cache' must be one of: cold, warm");
  EXPECT_EQ(fault(R"({"family":"copy","seconds":25.1})"), "'seconds' must be at most 25");
  EXPECT_EQ(fault(R"({"family":"copy","seconds":-1})"), "'seconds' must be at least 0");
  EXPECT_EQ(fault(R"({"family":"copy","limit":1.5})"), "'limit' must be of type integer");
  EXPECT_EQ(fault(R"({"family":"copy","source":"yes"})"), "'source' must be of type boolean");
  EXPECT_EQ(fault(R"({"family":"copy","where":["a","b","c"]})"), "'where' must have at most 2 items");
  EXPECT_EQ(fault(R"({"family":"copy","where":["a",1]})"), "item 1 of 'where' must be of type string");
  EXPECT_EQ(fault(R"({"family":"copy","experiment":[]})"), "'experiment' must be of type object or null");
}

TEST(SchemaCheck, AnUnknownArgumentIsAnsweredWithTheKnownOnes) {
  const std::string text = fault(R"({"famly":"copy"})");
  EXPECT_NE(text.find("unknown argument 'famly'"), std::string::npos) << text;
  EXPECT_NE(text.find("did you mean 'family'?"), std::string::npos) << text;
  EXPECT_NE(text.find("known: family, cache, seconds"), std::string::npos) << text;
}

}  // namespace
}  // namespace apo::mcp
