// harness/cli/improve/ideas_text.cpp - a line for each technique: what it attacks, its effect elsewhere, the source.
#include "harness/cli/improve/ideas_text.h"

#include <fmt/format.h>

#include "harness/core/text.h"

namespace apo {

std::string ideas_text(const std::vector<Idea>& ideas) {
  std::string text = ideas.empty() ? "" : "techniques that nobody has written for this\n";
  for (const Idea& idea : ideas) {
    text += fmt::format("  {} against {}, {}: {}{}\n", idea.technique.name, idea.attacks,
                        format_band(idea.technique.low, idea.technique.high), idea.technique.source,
                        idea.why_not.empty() ? "" : "; not now: " + idea.why_not);
  }
  return text;
}

}  // namespace apo
