// tests/core/applications/application_document_test.cpp - a declaration is read strictly and comes back as it was.
#include "harness/core/applications/application_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/json/codec.h"

namespace apo {
namespace {

using Declaration = nlohmann::json;

Declaration a_declaration() {
  return Declaration::parse(R"({"command": ["./train", "--small"], "prepare": "make", "dispatch_variable": "KERNELS",
    "metrics": [{"name": "tokens", "unit": "tokens/s", "better": "higher", "role": "speed"},
                {"name": "loss", "role": "quality", "margin": 0.01, "last": 5},
                {"name": "accuracy", "role": "quality", "better": "higher", "margin_percent": 2}],
    "warmup_steps": 3, "steps": 10, "seeds": [1, -2], "pairs": 12, "time_limit": "10m"})");
}

// What is wrong with the declaration once `key` has that value; of the first metric for "metrics.KEY".
std::string mistake(const std::string& key, const Declaration& value) {
  Declaration json = a_declaration();
  key.starts_with("metrics.") ? json["metrics"][0][key.substr(8)] = value : json[key] = value;
  try {
    read_application(json, " in file:1");
    return "";
  } catch (const UserError& error) {
    return with_hint(error);
  }
}

TEST(DeclaredApplication, EveryKeyIsRead) {
  const DeclaredApplication read = read_application(a_declaration(), "");
  EXPECT_EQ(read.command, (std::vector<std::string>{"./train", "--small"}));
  EXPECT_EQ(read.prepare, (std::vector<std::string>{"sh", "-c", "make"}));
  EXPECT_EQ(read.dispatch_variable, "KERNELS");
  EXPECT_TRUE(read.speed().higher_is_better);
  EXPECT_EQ(read.speed().unit, "tokens/s");
  ASSERT_EQ(read.qualities().size(), 2U);
  EXPECT_EQ(read.qualities()[0].last, 5);
  EXPECT_FALSE(read.qualities()[0].margin_is_share);
  EXPECT_DOUBLE_EQ(read.qualities()[1].margin, 0.02);
  EXPECT_TRUE(read.qualities()[1].margin_is_share);
  EXPECT_EQ(read.warmup_steps, 3);
  EXPECT_EQ(read.steps, 10);
  EXPECT_EQ(read.seeds, (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(read.pairs, 12);
  EXPECT_EQ(read.time_limit_s, 600);
}

TEST(DeclaredApplication, ComesBackFromItsDocument) {
  const DeclaredApplication read = read_application(a_declaration(), "");
  EXPECT_EQ(from_json_text<DeclaredApplication>(json_text(read)), read);
}

TEST(DeclaredApplication, MistakesNameTheKeyAndThePlace) {
  const std::pair<std::string, std::pair<Declaration, std::string>> cases[] = {
      {"comand", {1, "unknown key 'comand' of the application in file:1; did you mean 'command'?"}},
      {"command",
       {Declaration::array(), "'command' of the application is not a list with an element or more in file:1"}},
      {"command", {Declaration({1}), "neither a text nor a list of words"}},
      {"steps", {0, "'steps' of the application is not a whole number from 1"}},
      {"warmup_steps", {0, "'warmup_steps' of the application is not a whole number from 1"}},
      {"pairs", {4, "'pairs' of the application is not a whole number from 5"}},
      {"seeds", {Declaration({1, 1}), "no list of different whole numbers"}},
      {"seeds", {Declaration({1.5}), "seeds is no whole number in its range"}},
      {"time_limit", {"10", "is no time in file:1; write for example \"90s\""}},
      {"dispatch_variable", {"A=B", "no name of an environment variable"}},
      {"metrics.role", {"quality", "'margin' of a metric of the application or 'margin_percent' is needed"}},
      {"metrics.role", {"fast", "neither \"speed\" nor \"quality\""}},
      {"metrics.margin", {1, "speed, which has neither a margin nor last steps"}},
      {"metrics.name", {"seconds", "which every line of a step has for apo itself"}},
      {"metrics.name", {"loss", "has two of the name 'loss'"}},
      {"metrics",
       {Declaration::parse(R"([{"name": "loss", "role": "quality", "margin": 1}])"), "one with the role \"speed\""}},
      {"metrics",
       {Declaration::parse(R"([{"name": "step", "role": "speed"}])"), "needs one with the role \"quality\""}},
      {"steps", {4, "a mean over the last 5 of 4 steps"}},
  };
  for (const auto& [key, wrong] : cases) {
    EXPECT_NE(mistake(key, wrong.first).find(wrong.second), std::string::npos)
        << key << ": " << wrong.first << ": " << mistake(key, wrong.first);
  }
}

TEST(DeclaredApplication, TheTimeOfAStepIsInSecondsWhateverTheFileSays) {
  Declaration json = a_declaration();
  json["metrics"][0] = {{"name", "step"}, {"role", "speed"}, {"unit", "ms"}};
  EXPECT_EQ(read_application(json, "").speed().unit, "s");
}

}  // namespace
}  // namespace apo
