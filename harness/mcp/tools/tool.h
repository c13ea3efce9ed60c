// harness/mcp/tools/tool.h - a tool: a command of this program, with schemas for what goes in and what comes out.
#pragma once

#include <string>
#include <vector>

#include "harness/mcp/protocol/message.h"
#include "harness/mcp/tools/command_line.h"
#include "harness/mcp/tools/root.h"

namespace apo::mcp {

// Clients assume the worst of what is not stated, so that all four are.
struct Hints {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

struct Tool {
  std::string name;
  std::string title;
  std::string description;
  Json input_schema;
  Json output_schema;
  Hints hints;
  // A job may take longer than a client waits: it has a row in the journal, and its answer is a record of the job.
  bool is_job = false;
  // The exit codes of the command whose document answers what was asked: a wrong kernel is an answer of `evaluate`.
  std::vector<int> answers;
  // Throws UserError. Null for those that the server carries out by itself.
  CommandLine (*command)(const Json& arguments, const Root& root) = nullptr;
  // Selects the part of the command's document that is passed on; null passes on all of it.
  Json (*shape)(const Json& document, const Json& arguments) = nullptr;
};

}  // namespace apo::mcp
