// harness/cli/bring/hand_kept.h - the action of `apo import journal`.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace apo {

// All of the files, or none where one of them cannot be read.
int import_hand_kept(const std::vector<std::string>& files, const Globals& globals);

}  // namespace apo
