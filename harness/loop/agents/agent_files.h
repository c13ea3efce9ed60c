// harness/loop/agents/agent_files.h - writes what a coding agent needs to work with apo in a project.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/words.h"

namespace apo {

// A program that coding agents run in.
struct AgentClient {
  const char* name;           // "claude", as `apo new --agents` has it
  const char* product;        // "Claude Code"
  const char* configuration;  // ".mcp.json", in the project
  const char* servers;        // the key of the JSON file that holds the servers; "" where the file is TOML
  const char* skills;         // the folder of its skills; "" where it has none
};
const std::vector<AgentClient>& agent_clients();

// The whole configuration file of a project that has none; `command` starts apo.
std::string new_configuration(const AgentClient& client, const std::string& command);

bool has_our_server(const AgentClient& client, const std::string& text);

// The JSON text with our server in it, and all else in it as it was; nullopt where that cannot be promised: comments,
// keys that stand twice, numbers and escapes that would be written otherwise, another shape, TOML.
std::optional<std::string> merged_configuration(const AgentClient& client, const std::string& text,
                                                const std::string& command);

enum class AgentFileState : std::uint8_t {
  written,
  exists,  // and was left as it is
  merged,  // our server was added to it, and all else is as it was
  to_add,  // somebody has to add `text` to it
};
APO_WORDS(AgentFileState, agent_file_state_from, written, exists, merged, to_add)

struct AgentFile {
  std::string path;  // in the project
  AgentFileState state = AgentFileState::exists;
  std::string text = {};  // of to_add
};

// AGENTS.md, .apo/.gitignore, the skill and the configuration of each client in `clients`; all of them when it is
// empty. Nothing that exists is overwritten. `home` holds the texts, `command` starts apo. Throws UserError with "did
// you mean" for an unknown client, and EnvironmentError where a file cannot be written.
std::vector<AgentFile> write_agent_files(const std::filesystem::path& project, const std::filesystem::path& home,
                                         const std::vector<std::string>& clients, const std::string& command);

// "./apo" where the project has it, else "apo" where PATH has it, else this program's path.
std::string command_for(const std::filesystem::path& project);

}  // namespace apo
