// harness/mcp/tools/resources.h - what a client can read: each address is a command of this program that only reads.
#pragma once

#include <optional>
#include <string>

#include "harness/mcp/protocol/message.h"
#include "harness/mcp/tools/command_line.h"

namespace apo::mcp {

struct ResourceCommand {
  CommandLine line;
  std::string mime_type;
  std::string field;  // of the command's document; "" takes all that it prints
};

Json resource_documents();  // as in resources/list
Json template_documents();  // as in resources/templates/list
// nullopt for an address that is none of these.
std::optional<ResourceCommand> resource_command(const std::string& uri);

}  // namespace apo::mcp
