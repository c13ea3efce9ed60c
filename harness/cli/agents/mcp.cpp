// harness/cli/agents/mcp.cpp - `apo mcp`: becomes the server in harness/mcp/server.py.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/posix_spawn.h"
#include "harness/exchange/exchange.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {
namespace {

int become_server(double answer_within_s, const std::filesystem::path& journal, const Globals& globals) {
  const int program = open("/proc/self/exe", O_RDONLY);  // stays this program when a build replaces its file
  std::vector<std::string> words = {require_python(),
                                    "-BES",
                                    home_folder() / "harness" / "mcp" / "server.py",
                                    fmt::format("/proc/{}/fd/{}", getpid(), program),
                                    APO_VERSION,
                                    journal,
                                    fmt::format("{}", answer_within_s)};
  words.insert(words.end(), globals.families.begin(), globals.families.end());
  execv(words.front().c_str(), c_strings(words).data());
  throw EnvironmentError("cannot start '" + words.front() + "': " + std::strerror(errno));
}

}  // namespace

Action define_mcp(CLI::App& app, Globals& globals) {
  const auto answer_within = std::make_shared<std::string>("20s");
  app.add_option("--answer-within", *answer_within,
                 "answer a call that takes longer with the handle of a job; less than your client's timeout")
      ->capture_default_str();
  app.footer("It serves one client, and reads files below the folder where it was started. docs/mcp.md");
  return [answer_within, &globals] {
    const std::filesystem::path journal = std::filesystem::absolute(make_paths(globals.journal).journal);
    return become_server(checked_duration("--answer-within", *answer_within), journal, globals);
  };
}

}  // namespace apo
