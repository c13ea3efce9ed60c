// reports/commands_page.h - a page of its own about the judgements of two commands in a journal.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/comparison.h"
#include "reports/render.h"

namespace apo::report {

// Renders the comparisons with their rounds, in order. Throws UserError for csv.
std::string render_commands(const std::vector<ProgramComparison>& comparisons, Format format);

}  // namespace apo::report
