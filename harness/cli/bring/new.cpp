// harness/cli/bring/new.cpp - `apo new`: writes the first two files of a family, or what coding agents need.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.h"
#include "harness/cli/console.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/implement/variant/metadata_block.h"
#include "harness/loop/agents/agent_files.h"
#include "harness/loop/contract/skeleton.h"
#include "harness/loop/workspace/workspace.h"
#include "kernels/family.h"

namespace apo {
namespace {

constexpr const char* kAllClients = "all";

// A family that was registered here may be written anew; registering it tells what changed.
void check_name(const std::string& name, const Paths& paths) {
  if (is_cpp_keyword(name)) {
    throw UserError(fmt::format("'{}' is a C++ keyword, and the functions of a family have its name", name),
                    fmt::format("choose another name, such as {}_values", name));
  }
  if (find_family(name) != nullptr && !std::filesystem::exists(paths.families / name)) {
    throw UserError(fmt::format("the program has a family '{}' already", name),
                    "choose another name; 'apo list' shows all families");
  }
}

int write_family(const SkeletonRequest& request, const Globals& globals) {
  check_name(request.name, make_paths(globals.journal));
  const Skeleton skeleton = write_skeleton(request);
  const std::string family = request.name + ".h";
  const std::string variant = request.name + "_simple.cpp";
  for (const std::string& file : {family, variant}) {
    if (!is_absent(file)) {
      throw UserError("'" + file + "' is there already", "choose another name, or move the file away");
    }
  }
  write_files_atomically(
      {{.path = family, .contents = skeleton.family_file}, {.path = variant, .contents = skeleton.variant_file}});
  const std::vector<std::string> next = {"apo register " + family, "apo register " + variant,
                                         "apo run " + request.name};
  print_answer(
      globals, {{"family", family}, {"variant", variant}, {"next", next}},
      fmt::format("{}: the operation, once over a number type; it copies until you write what it computes\n"
                  "{}: a first variant; make it compute the same\n\nthen:\n  {}   checks the family and adds it\n"
                  "  {}   checks the variant and adds it\n  {}   improves it\n",
                  family, variant, next[0], next[1], next[2]));
  return kDone;
}

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

// `asked`: the names of clients between commas, or kAllClients.
int write_for_agents(const std::string& asked, const Globals& globals) {
  const std::vector<std::string> clients = asked == kAllClients ? std::vector<std::string>() : split(asked, ',');
  const std::filesystem::path project = std::filesystem::current_path();
  const std::vector<AgentFile> files = write_agent_files(project, home_folder(), clients, command_for(project));
  std::string text;
  nlohmann::ordered_json documents = nlohmann::ordered_json::array();
  for (const AgentFile& file : files) {
    documents.push_back({{"path", file.path}, {"state", to_string(file.state)}, {"text", file.text}});
    text += line_of(file);
  }
  print_answer(globals, {{"document", "agents"}, {"files", documents}}, text);
  return kDone;
}

}  // namespace

Action define_new(CLI::App& app, Globals& globals) {
  const auto request = std::make_shared<SkeletonRequest>();
  const auto clients = std::make_shared<std::string>();
  const std::vector<CLI::Option*> of_family = {
      app.add_option("name", request->name, "of the family, e.g. row_softmax"),
      app.add_option("--axis", request->axes, "an axis and its range, e.g. 'rows 1..65536'; once for each"),
      app.add_option("--scalar", request->scalars, "e.g. 'eps f32 1e-6'"),
      app.add_option("--input", request->inputs, "e.g. 'x f32[rows,cols] normal'"),
      app.add_option("--output", request->outputs, "e.g. 'y f32[rows,cols]'"),
      app.add_option("--inout", request->inouts,
                     "memory that a call reads and writes, e.g. 'p f32[rows,cols] normal'")};
  auto* agents =
      app.add_option(
             "--agents", *clients,
             "in place of a family, write AGENTS.md, a skill and the MCP configurations of coding agents: claude, "
             "codex, cursor, vscode, with commas between them")
          ->expected(0, 1)
          ->default_str(kAllClients);
  for (CLI::Option* one : of_family) {
    one->allow_extra_args(false)->excludes(agents);
  }
  return [request, clients, &globals] {
    if (!clients->empty()) {
      return write_for_agents(*clients, globals);
    }
    if (request->name.empty()) {
      throw UserError("name is required", "'apo new NAME' writes a family, 'apo new --agents' what coding agents need");
    }
    return write_family(*request, globals);
  };
}

}  // namespace apo
