// harness/cli/look/diff.h - `apo show VARIANT --diff`: prints what a variant changes in another one.
#pragma once

#include <string>

#include "harness/cli/command.h"

namespace apo {

// In place of another variant's name: the parent's.
inline constexpr const char* kParent = "parent";

// Both are FAMILY/NAME, or a configuration; `base` may be kParent. Throws UserError for an unknown one.
int show_diff(const std::string& variant, const std::string& base, const Globals& globals);

}  // namespace apo
