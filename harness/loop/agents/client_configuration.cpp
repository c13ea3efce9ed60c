// harness/loop/agents/client_configuration.cpp - the shapes of four clients, and a merge that loses nothing.
#include "harness/loop/agents/client_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace apo {
namespace {

using ClientJson = nlohmann::ordered_json;

constexpr const char* kServer = "apo";
constexpr const char* kTableOfServer = "[mcp_servers.apo]";

ClientJson server_of(const AgentClient& client, const std::string& command) {
  ClientJson server = {{"command", command}, {"args", {"mcp"}}};
  if (std::string_view(client.name) == "vscode") {
    server = {{"type", "stdio"}, {"command", command}, {"args", {"mcp"}}};
  }
  return server;
}

bool is_toml(const AgentClient& client) {
  return *client.servers == '\0';
}

std::string toml_of(const std::string& command) {
  return fmt::format("{}\ncommand = {}\nargs = [\"mcp\"]\nstartup_timeout_sec = 30\n", kTableOfServer,
                     ClientJson(command).dump());  // a basic string of TOML has the escapes of JSON
}

// Removes the white space between the parts.
std::string without_layout(const std::string& json) {
  std::string text;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (quoted && json[i] == '\\' && i + 1 < json.size()) {
      text += json[i++];
    } else if (json[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (json[i] == ' ' || json[i] == '\t' || json[i] == '\n' || json[i] == '\r')) {
      continue;
    }
    text += json[i];
  }
  return text;
}

// The white space before the first line that is set in.
std::pair<int, char> indent_of(const std::string& json) {
  constexpr int kUsual = 2;
  const std::size_t line = json.find("\n ");
  const std::size_t tab = json.find("\n\t");
  if (tab < line) {
    return {1, '\t'};
  }
  if (line == std::string::npos) {
    return {kUsual, ' '};
  }
  const std::size_t end = json.find_first_not_of(' ', line + 1);
  return {static_cast<int>(std::min<std::size_t>(end - line - 1, 8)), ' '};
}

}  // namespace

const std::vector<AgentClient>& agent_clients() {
  static const std::vector<AgentClient> clients = {
      {"claude", "Claude Code", ".mcp.json", "mcpServers", ".claude/skills"},
      {"codex", "Codex", ".codex/config.toml", "", ".codex/skills"},
      {"cursor", "Cursor", ".cursor/mcp.json", "mcpServers", ""},
      {"vscode", "VS Code", ".vscode/mcp.json", "servers", ""},
  };
  return clients;
}

std::string new_configuration(const AgentClient& client, const std::string& command) {
  if (is_toml(client)) {
    return toml_of(command);
  }
  return ClientJson{{client.servers, {{kServer, server_of(client, command)}}}}.dump(2) + "\n";
}

std::string configuration_to_add(const AgentClient& client, const std::string& command) {
  if (is_toml(client)) {
    return toml_of(command);
  }
  return fmt::format("\"{}\": {} in \"{}\"\n", kServer, server_of(client, command).dump(), client.servers);
}

bool has_our_server(const AgentClient& client, const std::string& text) {
  if (is_toml(client)) {
    return text.find(kTableOfServer) != std::string::npos;
  }
  const ClientJson json = ClientJson::parse(text, nullptr, false);
  return json.is_object() && json.contains(client.servers) && json[client.servers].is_object() &&
         json[client.servers].contains(kServer);
}

std::optional<std::string> merged_configuration(const AgentClient& client, const std::string& text,
                                                const std::string& command) {
  if (is_toml(client)) {
    return std::nullopt;
  }
  ClientJson json = ClientJson::parse(text, nullptr, false);
  const bool is_whole = !json.is_discarded() && json.is_object() && json.dump() == without_layout(text);
  if (!is_whole || (json.contains(client.servers) && !json[client.servers].is_object())) {
    return std::nullopt;
  }
  json[client.servers][kServer] = server_of(client, command);
  const auto [width, character] = indent_of(text);
  return json.dump(width, character) + (text.ends_with('\n') ? "\n" : "");
}

}  // namespace apo
