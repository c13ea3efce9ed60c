// harness/cli/bring/family_text.h - checks and registers family files, and prints what came of it.
#pragma once

#include <string>

#include "harness/cli/command.h"
#include "harness/families/family_record.h"

namespace apo {

// Checks the family of a file (unless `check` is false) and adds it to .apo/families; returns an ExitCode.
int register_family(const std::string& file, bool check, const Globals& globals);

// Checks a family and returns what `apo register` prints of it. Throws UserError when it is refused.
std::string check_summary(const FamilyFile& file, const Globals& globals);

}  // namespace apo
