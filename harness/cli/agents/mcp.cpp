// harness/cli/agents/mcp.cpp - `apo mcp`: a Model Context Protocol server on standard input and output.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "harness/cli/command.h"
#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/mcp/serving/server.h"

namespace apo {
namespace {

// The client's end of standard output, which from here on is standard error to all others: nothing that prints can
// break the protocol.
FileDescriptor take_standard_output() {
  FileDescriptor out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!out || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw EnvironmentError(std::string("cannot use standard output: ") + std::strerror(errno),
                           "start it from a client, or with '</dev/null' to see that it works");
  }
  return out;
}

int serve(const std::string& answer_within, const Globals& globals) {
  const FileDescriptor out = take_standard_output();
  mcp::Server server({.root = std::filesystem::current_path(),
                      .journal = std::filesystem::absolute(make_paths(globals.journal).journal),
                      .families = globals.families,
                      .version = APO_VERSION,
                      .answer_within_s = checked_duration("--answer-within", answer_within),
                      .in = STDIN_FILENO,
                      .out = out.get()});
  server.run();
  return kDone;
}

}  // namespace

Action define_mcp(CLI::App& app, Globals& globals) {
  const auto answer_within = std::make_shared<std::string>("20s");
  app.add_option("--answer-within", *answer_within,
                 "answer a call that takes longer with the handle of a job; less than your client's timeout")
      ->capture_default_str();
  app.footer("It serves one client, and reads files below the folder where it was started. docs/mcp.md");
  return [answer_within, &globals] { return serve(*answer_within, globals); };
}

}  // namespace apo
