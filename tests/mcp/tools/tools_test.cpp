// tests/mcp/tools/tools_test.cpp - what every tool, resource and prompt must state, and how documents are shortened.
#include "harness/mcp/tools/tools.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/core/pattern.h"
#include "harness/mcp/protocol/schema_check.h"
#include "harness/mcp/tools/prompts.h"
#include "harness/mcp/tools/resources.h"
#include "harness/mcp/tools/shapes.h"

namespace apo::mcp {
namespace {

TEST(Tools, EveryToolStatesWhatClientsWouldGuess) {
  static const Pattern kName("[A-Za-z0-9_.-]{1,128}");
  std::set<std::string> names;
  for (const Tool& tool : tools()) {
    const Json shown = tool_document(tool);
    EXPECT_TRUE(kName.matches(tool.name)) << tool.name;
    EXPECT_TRUE(names.insert(tool.name).second) << tool.name;
    EXPECT_FALSE(tool.title.empty() || tool.description.empty()) << tool.name;
    EXPECT_EQ(shown["inputSchema"]["type"], "object") << tool.name;
    EXPECT_EQ(shown["inputSchema"]["additionalProperties"], false) << tool.name;
    EXPECT_EQ(shown["outputSchema"]["type"], "object") << tool.name;
    EXPECT_EQ(shown["annotations"].size(), 4u) << tool.name;
    for (const auto& [name, schema] : tool.input_schema["properties"].items()) {
      EXPECT_FALSE(schema.value("description", "").empty()) << tool.name << "." << name;
    }
    for (const Json& name : tool.input_schema.value("required", Json::array())) {
      EXPECT_TRUE(tool.input_schema["properties"].contains(name.get<std::string>())) << tool.name << "." << name;
    }
  }
}

TEST(Tools, OnlyThoseThatTheServerCarriesOutHaveNoCommand) {
  for (const Tool& tool : tools()) {
    EXPECT_EQ(tool.command == nullptr, tool.name == kWait || tool.name == kCancel) << tool.name;
    EXPECT_EQ(tool.command == nullptr, tool.answers.empty()) << tool.name;
    EXPECT_EQ(find_tool(tool.name), &tool);
  }
  EXPECT_EQ(find_tool("nope"), nullptr);
}

TEST(Tools, WhatOnlyReadsIsNotDestructive) {
  for (const Tool& tool : tools()) {
    EXPECT_FALSE(tool.hints.read_only && tool.hints.destructive) << tool.name;
    EXPECT_FALSE(tool.hints.open_world) << tool.name;
  }
}

std::vector<std::string> words_of(const std::string& uri) {
  const auto command = resource_command(uri);
  return command ? command->line.words : std::vector<std::string>();
}

TEST(Resources, AnAddressIsACommandThatReads) {
  using Line = std::vector<std::string>;
  EXPECT_EQ(words_of("apo://lessons"), Line{"lessons"});
  EXPECT_EQ(words_of("apo://report"), (Line{"report", "--format=markdown", "--output=-"}));
  EXPECT_EQ(words_of("apo://brief/copy/n4k"), (Line{"research", "copy", "--workload=n4k", "--json"}));
  EXPECT_EQ(words_of("apo://experiment/12"), (Line{"show", "12"}));
  EXPECT_EQ(words_of("apo://source/copy/memcpy"), (Line{"show", "copy/memcpy", "--source", "--json"}));
}

TEST(Resources, OtherAddressesAreNone) {
  for (const std::string uri :
       {"", "apo://", "apo://nope", "apo:lessons", "file:///etc/passwd", "apo://lessons/", "apo://brief/copy",
        "apo://experiment/", "apo://experiment/--help", "apo://experiment/1 2", "apo://source/copy/../x",
        "apo://source/copy/a%2fb", "apo://source/{family}/{name}", "apo://brief/copy/n4k/x"}) {
    EXPECT_FALSE(resource_command(uri)) << uri;
  }
  EXPECT_FALSE(resource_command("apo://experiment/" + std::string(1000, '1')));
}

TEST(Resources, ListsAndTemplatesNameDifferentAddresses) {
  EXPECT_EQ(resource_documents().size(), 3u);
  EXPECT_EQ(template_documents().size(), 3u);
  for (const Json& resource : resource_documents()) {
    EXPECT_TRUE(resource_command(resource["uri"])) << resource;
  }
  for (const Json& resource : template_documents()) {
    EXPECT_NE(resource["uriTemplate"].get<std::string>().find('{'), std::string::npos);
  }
}

TEST(Prompts, ThePromptNamesFamilyWorkloadAndTools) {
  const std::string text = prompt_text("optimise", {{"family", "copy"}, {"workload", "n4k"}});
  for (const char* word : {"'copy'", "'n4k'", "`brief`", "`evaluate`", "`wait`", "copy/NAME"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
  EXPECT_EQ(prompt_text("optimise", {{"family", "copy"}}).find("workload '"), std::string::npos);
  EXPECT_THROW(prompt_text("optimise", Json::object()), ProtocolError);
  EXPECT_THROW(prompt_text("optimise", {{"family", 7}}), ProtocolError);
  EXPECT_THROW(prompt_text("optimise", {{"family", "copy"}, {"speed", "high"}}), ProtocolError);
}

TEST(Prompts, EveryToolThatTheInstructionsNameExists) {
  static const Pattern kQuoted("['`]([a-z]+)['`]");
  const std::string text = instructions() + prompt_text("optimise", {{"family", "FAMILY"}});
  int named = 0;
  for (const PatternMatch& word : kQuoted.all(text)) {
    const std::string name = word[1];
    const bool is_word =
        name == "running" || name == "wrong" || name == "reverted" || name == "inconclusive" || name == "accepted";
    EXPECT_TRUE(is_word || find_tool(name) != nullptr) << name;
    ++named;
  }
  EXPECT_GT(named, 5);
}

TEST(Tools, EvaluateLeavesTheFamilyToTheCandidatesBlockAndShowTakesNumbersAndNames) {
  EXPECT_EQ(schema_fault({{"source", "// apo:variant copy/mine"}}, find_tool("evaluate")->input_schema), "");
  EXPECT_EQ(schema_fault({{"id", 12}}, find_tool("show")->input_schema), "");
  EXPECT_EQ(schema_fault({{"id", "copy/simple"}}, find_tool("show")->input_schema), "");
  EXPECT_NE(schema_fault({{"id", true}}, find_tool("show")->input_schema), "");
  EXPECT_EQ(find_tool("show")->command({{"id", 12}}, Root(".")).words, (std::vector<std::string>{"show", "12"}));
}

TEST(Shapes, AnOverviewNamesWorkloadsAndCountsVariants) {
  const Json document = Json::parse(R"({"format":2,"families":[{"name":"copy","summary":"y = x","axes":[1],
    "workloads":[{"name":"n4k","axes":{}}],"variants":[{"id":"copy/a"},{"id":"copy/b"}]}],"variants":[]})");
  EXPECT_EQ(overview(document)["families"],
            Json::parse(R"([{"name":"copy","summary":"y = x","workloads":["n4k"],"variants":2}])"));
  EXPECT_EQ(overview(document)["format"], 2);
}

TEST(Shapes, StepsAndRoundsAreLeftOutAndNothingElse) {
  const Json document = Json::parse(R"({"gates":[{"gate":"build","steps":[1]},7],
    "experiment":{"gates":[{"gate":"timing","steps":[1]}]},"rounds":[1]})");
  EXPECT_EQ(without_rounds(without_steps(document)),
            Json::parse(R"({"gates":[{"gate":"build"},7],"experiment":{"gates":[{"gate":"timing"}]}})"));
  EXPECT_EQ(without_steps(Json::parse(R"({"gates":3,"experiment":null})")),
            Json::parse(R"({"gates":3,"experiment":null})"));
}

}  // namespace
}  // namespace apo::mcp
