// harness/mcp/tools/tools.h - the table of tools.
#pragma once

#include <string>
#include <vector>

#include "harness/mcp/protocol/message.h"
#include "harness/mcp/tools/tool.h"

namespace apo::mcp {

inline constexpr const char* kWait = "wait";
inline constexpr const char* kCancel = "cancel";
inline constexpr int kLongestWait = 25;  // seconds; a client may give up after 30

const std::vector<Tool>& tools();
// nullptr when there is none.
const Tool* find_tool(const std::string& name);
// Writes the tool as an element of tools/list.
Json tool_document(const Tool& tool);

}  // namespace apo::mcp
