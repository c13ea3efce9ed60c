// harness/loop/agents/agent_files.cpp - creates files, adds to configurations, and leaves what exists.
#include "harness/loop/agents/agent_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "harness/loop/agents/client_configuration.h"

namespace apo {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path, const std::string& why) {
  throw EnvironmentError("cannot write '" + path.string() + "': " + why);
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

std::string_view to_string(AgentFileState state) {
  switch (state) {
    case AgentFileState::written:
      return "written";
    case AgentFileState::exists:
      return "exists";
    case AgentFileState::merged:
      return "merged";
    case AgentFileState::to_add:
      break;
  }
  return "to_add";
}

std::vector<AgentFile> write_agent_files(const fs::path& project, const fs::path& home,
                                         const std::vector<std::string>& clients, const std::string& command) {
  const auto text_of = [&](const char* name) {
    return replace_all(read_file(home / "examples" / "agent" / name), "./apo ", command + " ");
  };
  const std::vector<AgentClient> chosen = clients_named(clients);
  std::vector<AgentFile> files = {create(project, "AGENTS.md", text_of("AGENTS.md"))};
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
