// harness/mcp/tools/tool_rows.h - the rows of the table of tools, by what they do, and what several of them take.
#pragma once

#include <string>
#include <vector>

#include "harness/mcp/tools/schemas.h"
#include "harness/mcp/tools/tool.h"

namespace apo::mcp {

std::vector<Tool> reading_tools();    // of families, the journal and this machine; they answer at once
std::vector<Tool> measuring_tools();  // jobs
std::vector<Tool> waiting_tools();    // about jobs; carried out by the server itself

inline constexpr Hints kReads{.read_only = true, .idempotent = true};

// Exit codes of the program: 0 done, 1 a wrong candidate or a mistake, 2 the environment, 3 a gate failed.
inline const std::vector<int> kDoneOnly = {0};

Argument family_argument(bool required, const std::string& more = "");

}  // namespace apo::mcp
