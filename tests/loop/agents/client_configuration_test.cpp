// tests/loop/agents/client_configuration_test.cpp - the shape of each client's file, and what a merge keeps.
#include "harness/loop/agents/client_configuration.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace apo {
namespace {

const AgentClient& client_named(std::string_view name) {
  for (const AgentClient& client : agent_clients()) {
    if (client.name == name) {
      return client;
    }
  }
  throw std::logic_error("no such client");
}

TEST(ClientConfiguration, EachClientHasItsShape) {
  const auto document = [](const char* name) {
    return nlohmann::json::parse(new_configuration(client_named(name), "./apo"));
  };
  const nlohmann::json server = {{"command", "./apo"}, {"args", {"mcp"}}};
  EXPECT_EQ(document("claude"), (nlohmann::json{{"mcpServers", {{"apo", server}}}}));
  EXPECT_EQ(document("cursor"), document("claude"));
  EXPECT_EQ(document("vscode")["servers"]["apo"]["type"], "stdio");
  EXPECT_EQ(new_configuration(client_named("codex"), "a \"b\"\\c"),
            "[mcp_servers.apo]\ncommand = \"a \\\"b\\\"\\\\c\"\nargs = [\"mcp\"]\nstartup_timeout_sec = 30\n");
  for (const AgentClient& client : agent_clients()) {
    EXPECT_TRUE(has_our_server(client, new_configuration(client, "apo"))) << client.name;
    EXPECT_FALSE(has_our_server(client, "")) << client.name;
  }
}

TEST(ClientConfiguration, AMergeKeepsOrderIndentationAndAllElse) {
  const std::string text =
      "{\n    \"z\": [1, 2.5, \"a b\\\\\\\"\"],\n    \"mcpServers\": {\"other\": {\"command\": \"x\"}},\n    \"a\": "
      "null\n}\n";
  const auto merged = merged_configuration(client_named("claude"), text, "./apo");
  ASSERT_TRUE(merged);
  EXPECT_TRUE(has_our_server(client_named("claude"), *merged));
  EXPECT_NE(merged->find("\n    \"z\""), std::string::npos) << *merged;
  auto document = nlohmann::ordered_json::parse(*merged);
  document["mcpServers"].erase("apo");
  EXPECT_EQ(document.dump(), nlohmann::ordered_json::parse(text).dump());
  EXPECT_TRUE(merged_configuration(client_named("vscode"), "{}", "./apo"));
  const auto tabs = merged_configuration(client_named("vscode"), "{\n\t\"a\": 1\n}", "./apo");
  EXPECT_NE(tabs.value_or("").find("\n\t\"a\": 1"), std::string::npos);
}

TEST(ClientConfiguration, WhatAMergeWouldLoseIsNotMerged) {
  for (const char* text :
       {"", "nonsense", "[]", "{\"mcpServers\": []}", "{\"mcpServers\": null}", "{} // a comment", "{\"a\": 1,}",
        "{\"a\": 1, \"a\": 2}", "{\"a\": 1.0e2}", "{\"a\": 123456789012345678901234567890}", "{\"a\": \"\\u00e9\"}",
        "{\"a\": \"\\/\"}", "\xef\xbb\xbf{}", "{\"a\": \"\xff\"}"}) {
    EXPECT_FALSE(merged_configuration(client_named("claude"), text, "./apo")) << text;
  }
  EXPECT_FALSE(merged_configuration(client_named("codex"), "model = \"x\"\n", "./apo")) << "TOML";
}

}  // namespace
}  // namespace apo
