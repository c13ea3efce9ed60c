// reports/commands_page.h - a page of its own about the judgements of two commands in a journal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/commands/command_comparison.h"
#include "reports/render.h"

namespace apo::report {

// Renders the comparisons with their rounds, in order.
std::string render_commands(const std::vector<CommandComparison>& comparisons, Format format);

// Writes commands.md, .html or .json into the folder, which is made when absent. Returns its path.
std::filesystem::path write_commands_page(const std::vector<CommandComparison>& comparisons, Format format,
                                          const std::filesystem::path& folder);

}  // namespace apo::report
