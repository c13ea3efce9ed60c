// harness/cli/look/replayed/strategy_text.h - `apo research --replay SPACE`: the strategies on recorded spaces, as a
// table.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace apo {

// Prints the evaluations that each strategy, or the named one, takes in each space until it has a configuration within
// 5 % of the best. Throws UserError for an unknown strategy and a file that is no space.
int replay_spaces(const std::vector<std::string>& files, const std::string& strategy, const Globals& globals);

}  // namespace apo
