// harness/cli/bring/init.cpp - `apo init`: prepares a project for coding agents.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/system/files.h"
#include "harness/loop/agents/agent_files.h"

namespace apo {
namespace {

std::string line_of(const AgentFile& file) {
  switch (file.state) {
    case AgentFileState::written:
      return "wrote " + file.path + "\n";
    case AgentFileState::exists:
      return "left " + file.path + " as it is\n";
    case AgentFileState::merged:
      return "added the server apo to " + file.path + "\n";
    case AgentFileState::to_add:
      break;
  }
  return fmt::format("left {} as it is; add to it:\n{}", file.path, file.text);
}

int write_files(const std::vector<std::string>& clients, const Globals& globals) {
  const std::filesystem::path project = std::filesystem::current_path();
  const std::vector<AgentFile> files = write_agent_files(project, home_folder(), clients, command_for(project));
  std::string text;
  nlohmann::ordered_json documents = nlohmann::ordered_json::array();
  for (const AgentFile& file : files) {
    documents.push_back({{"path", file.path}, {"state", to_string(file.state)}, {"text", file.text}});
    text += line_of(file);
  }
  print_answer(globals, {{"document", "init"}, {"files", documents}}, text);
  return kDone;
}

}  // namespace

Action define_init(CLI::App& app, Globals& globals) {
  const auto clients = std::make_shared<std::vector<std::string>>();
  app.add_option("--client", *clients, "claude, codex, cursor or vscode; may repeat (default: all of them)")
      ->allow_extra_args(false);
  return [clients, &globals] { return write_files(*clients, globals); };
}

}  // namespace apo
