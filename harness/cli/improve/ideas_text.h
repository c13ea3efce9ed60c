// harness/cli/improve/ideas_text.h - prints techniques that nobody has written.
#pragma once

#include <string>
#include <vector>

#include "harness/research/research.h"

namespace apo {

// A title and a line for each; "" where there are none.
std::string ideas_text(const std::vector<Idea>& ideas);

}  // namespace apo
