// harness/mcp/tools/prompts.h - the prompt that people start from, and what every model is told.
#pragma once

#include <string>

#include "harness/mcp/protocol/message.h"

namespace apo::mcp {

// The model reads these when a session begins.
std::string instructions();
Json prompt_documents();  // as in prompts/list
// The text of a prompt that the list has. Throws ProtocolError for arguments that do not fit.
std::string prompt_text(const std::string& name, const Json& arguments);

}  // namespace apo::mcp
