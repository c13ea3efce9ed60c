// harness/loop/agents/client_configuration.h - the configuration by which a coding agent's program starts our MCP
// server.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace apo {

// A program that coding agents run in.
struct AgentClient {
  const char* name;           // "claude", as --client has it
  const char* product;        // "Claude Code"
  const char* configuration;  // ".mcp.json", in the project
  const char* servers;        // the key of the JSON file that holds the servers; "" where the file is TOML
  const char* skills;         // the folder of its skills; "" where it has none
};
const std::vector<AgentClient>& agent_clients();

// The whole configuration file of a project that has none; `command` starts apo.
std::string new_configuration(const AgentClient& client, const std::string& command);
// Returns the text that a person adds to a configuration that already exists.
std::string configuration_to_add(const AgentClient& client, const std::string& command);

bool has_our_server(const AgentClient& client, const std::string& text);

// The JSON text with our server in it, and all else in it as it was; nullopt where that cannot be promised: comments,
// keys that stand twice, numbers and escapes that would be written otherwise, another shape, TOML.
std::optional<std::string> merged_configuration(const AgentClient& client, const std::string& text,
                                                const std::string& command);

}  // namespace apo
