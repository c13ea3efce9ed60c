// tests/cli/bring/init_test.cpp - what `apo init` writes, and that it overwrites nothing.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;
using States = std::map<std::string, std::string>;

States states_of(const Ran& ran) {
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  States states;
  const Json document = only_document(ran);
  for (const Json& file : document["files"]) {
    states[file["path"]] = file["state"];
  }
  return states;
}

TEST(Init, AnEmptyFolderGetsTheFilesOfEveryClient) {
  const Workplace place;
  const States states = states_of(place.apo({"init", "--json"}));
  const States expected = {{"AGENTS.md", "written"},          {".claude/skills/apo/SKILL.md", "written"},
                           {".mcp.json", "written"},          {".codex/skills/apo/SKILL.md", "written"},
                           {".codex/config.toml", "written"}, {".cursor/mcp.json", "written"},
                           {".vscode/mcp.json", "written"}};
  EXPECT_EQ(states, expected);
  const std::string skill = read_file(place.path(".claude/skills/apo/SKILL.md"));
  EXPECT_TRUE(skill.starts_with("---\nname: apo\n")) << "the name is the folder's";
  EXPECT_NE(skill.find("\ndescription:"), std::string::npos);
  const std::string command = Json::parse(read_file(place.path(".mcp.json")))["mcpServers"]["apo"]["command"];
  EXPECT_TRUE(command == "apo" || std::filesystem::path(command).is_absolute()) << command;
  EXPECT_NE(read_file(place.path("AGENTS.md")).find(command + " evaluate FILE"), std::string::npos)
      << "the texts name the command of this project";
  for (const auto& [path, state] : states_of(place.apo({"init", "--json"}))) {
    EXPECT_EQ(state, "exists") << path;
  }
}

TEST(Init, WhatExistsIsLeftOrMergedWithoutLoss) {
  const Workplace place;
  place.write("AGENTS.md", "mine\n");
  place.write(".mcp.json", "{\n  \"mcpServers\": {}\n}\n");
  place.write("shared.json", "{}");
  for (const char* folder : {".cursor", ".vscode", ".codex"}) {
    std::filesystem::create_directory(place.path(folder));
  }
  const std::string comment = "// mine\n{\"mcpServers\": {}}\n";
  place.write(".cursor/mcp.json", comment);
  std::filesystem::create_symlink("../shared.json", place.path(".vscode/mcp.json"));
  place.write(".codex/config.toml", "model = \"x\"\n");
  const Ran ran = place.apo({"init"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("left AGENTS.md as it is\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("added the server apo to .mcp.json\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("left .cursor/mcp.json as it is; add to it:\n\"apo\": {"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("add to it:\n[mcp_servers.apo]\n"), std::string::npos) << ran.out;
  EXPECT_EQ(read_file(place.path("AGENTS.md")), "mine\n");
  EXPECT_TRUE(Json::parse(read_file(place.path(".mcp.json")))["mcpServers"].contains("apo"));
  EXPECT_EQ(read_file(place.path(".cursor/mcp.json")), comment);
  EXPECT_EQ(read_file(place.path("shared.json")), "{}") << "a link is not followed";
  EXPECT_TRUE(std::filesystem::is_symlink(place.path(".vscode/mcp.json")));
  EXPECT_EQ(read_file(place.path(".codex/config.toml")), "model = \"x\"\n");
}

TEST(Init, OneClientGetsItsOwnAndAnUnknownOneNothing) {
  const Workplace place;
  EXPECT_EQ(states_of(place.apo({"init", "--client", "cursor", "--json"})),
            (States{{"AGENTS.md", "written"}, {".cursor/mcp.json", "written"}}));
  const Workplace other;
  const Ran ran = other.apo({"init", "--client", "curser"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("did you mean 'cursor'?"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(other.path("AGENTS.md")));
  other.write(".cursor", "a file");
  const Ran refused = other.apo({"init", "--client", "cursor"});
  EXPECT_EQ(refused.exit_code, 2) << refused.out;
  EXPECT_NE(refused.err.find(".cursor/mcp.json"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace apo
