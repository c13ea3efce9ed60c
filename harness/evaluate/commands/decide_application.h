// harness/evaluate/commands/decide_application.h - derives the verdict from the recorded runs of an application.
#pragma once

#include <string>
#include <vector>

#include "harness/core/comparisons/comparison.h"

namespace apo {

// Returns the view that decides, then the second one if a fixed time is declared.
std::vector<ComparisonView> views_of(const DeclaredApplication& application);

// Fills everything from the outcome to the figures, from the runs alone. The speed follows the rule of the first look
// at a kernel (level 0.001, margin 0.3 %) over the pairs; the quality two one-sided tests over the seeds. Accepted is
// what is faster and not worse.
void decide(ProgramComparison& comparison);

// Decides the recorded rounds or runs again. Returns "" if the result equals the recorded one (the effect and its
// interval bit for bit) or another version of the rule made that one, else a sentence. Pure.
std::string difference_on_replay(const ProgramComparison& comparison);

}  // namespace apo
