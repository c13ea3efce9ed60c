// harness/cli/improve/ideas_text.cpp - a line for each technique that applies: what it attacks, its effect elsewhere,
// the source.
#include "harness/cli/improve/ideas_text.h"

#include <fmt/format.h>

#include "harness/core/interval.h"
#include "harness/core/text.h"

namespace apo {

std::string ideas_text(const std::vector<Idea>& ideas) {
  std::string text = ideas.empty() ? "" : "techniques that nobody has written for this\n";
  std::size_t ruled_out = 0;
  for (const Idea& idea : ideas) {
    if (!idea.why_not.empty()) {
      ++ruled_out;
      continue;
    }
    text += fmt::format("  {} against {}, {}: {}\n", idea.technique.name, idea.attacks,
                        format_band(idea.technique.low, idea.technique.high), idea.technique.source);
  }
  if (ruled_out > 0) {
    text += fmt::format(
        "  {} more that another family, this incumbent or this workload rules out: 'apo research FAMILY --json' has "
        "the reasons\n",
        ruled_out);
  }
  return text;
}

}  // namespace apo
