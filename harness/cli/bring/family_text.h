// harness/cli/bring/family_text.h - checks and registers family files, and prints what came of it.
#pragma once

#include <string>

#include "harness/cli/command.h"

namespace apo {

// Checks the family of a file (unless `check` is false) and adds it to .apo/families; returns an ExitCode.
int register_family(const std::string& file, bool check, const Globals& globals);

}  // namespace apo
