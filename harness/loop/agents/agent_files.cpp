// harness/loop/agents/agent_files.cpp - creates files, adds to configurations, and leaves what exists.
#include "harness/loop/agents/agent_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"

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

namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path, const std::string& why) {
  throw EnvironmentError("cannot write '" + path.string() + "': " + why);
}

// Returns the text that a person adds to a configuration that already exists.
std::string configuration_to_add(const AgentClient& client, const std::string& command) {
  if (is_toml(client)) {
    return toml_of(command);
  }
  return fmt::format("\"{}\": {} in \"{}\"\n", kServer, server_of(client, command).dump(), client.servers);
}

// Whether anything has that name, a link to nothing too.
bool is_taken(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at fails when it is written
  return fs::exists(fs::symlink_status(path, ignored));
}

AgentFile create(const fs::path& project, const std::string& name, const std::string& text) {
  const fs::path path = project / name;
  if (is_taken(path)) {
    return {.path = name, .state = AgentFileState::exists};
  }
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    cannot_write(path, error.message());
  }
  // "x": what appeared meanwhile is not overwritten.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wx"), std::fclose);
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    cannot_write(path, std::strerror(errno));
  }
  return {.path = name, .state = AgentFileState::written};
}

AgentFile configure(const fs::path& project, const AgentClient& client, const std::string& command) {
  const fs::path path = project / client.configuration;
  if (!is_taken(path)) {
    return create(project, client.configuration, new_configuration(client, command));
  }
  std::error_code ignored;  // what is no plain file is left to its owner
  const bool is_plain = fs::is_regular_file(fs::symlink_status(path, ignored));
  const std::string text = is_plain ? read_file(path) : "";
  if (is_plain && has_our_server(client, text)) {
    return {.path = client.configuration, .state = AgentFileState::exists};
  }
  if (const auto merged = is_plain ? merged_configuration(client, text, command) : std::nullopt) {
    write_file_atomically(path, *merged);
    return {.path = client.configuration, .state = AgentFileState::merged};
  }
  return {.path = client.configuration, .state = AgentFileState::to_add, .text = configuration_to_add(client, command)};
}

std::vector<AgentClient> clients_named(const std::vector<std::string>& names) {
  if (names.empty()) {
    return agent_clients();
  }
  std::vector<std::string> known;
  for (const AgentClient& client : agent_clients()) {
    known.emplace_back(client.name);
  }
  std::vector<AgentClient> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end()) {
      throw UserError("unknown client '" + name + "'", did_you_mean(name, known) + " known: " + join(known, ", "));
    }
    chosen.push_back(agent_clients()[static_cast<std::size_t>(found - known.begin())]);
  }
  return chosen;
}

}  // namespace

std::vector<AgentFile> write_agent_files(const fs::path& project, const fs::path& home,
                                         const std::vector<std::string>& clients, const std::string& command) {
  const auto text_of = [&](const char* name) {
    return replace_all(read_file(home / "examples" / "agent" / name), "./apo ", command + " ");
  };
  const std::vector<AgentClient> chosen = clients_named(clients);
  std::vector<AgentFile> files = {create(project, "AGENTS.md", text_of("AGENTS.md")),
                                  create(project, ".apo/.gitignore", "/cache/\n*.lock\n*.db-shm\n*.db-wal\n")};
  for (const AgentClient& client : chosen) {
    if (*client.skills != '\0') {
      files.push_back(create(project, std::string(client.skills) + "/apo/SKILL.md", text_of("SKILL.md")));
    }
    files.push_back(configure(project, client, command));
  }
  return files;
}

std::string command_for(const fs::path& project) {
  if (access((project / "apo").c_str(), X_OK) == 0 && !fs::is_directory(project / "apo")) {
    return "./apo";
  }
  return find_program("apo") ? "apo" : fs::read_symlink("/proc/self/exe").string();
}

}  // namespace apo
