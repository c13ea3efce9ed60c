// harness/applications/decide_application.h - the verdict that follows from the recorded runs of an
// application.
#pragma once

#include <string>
#include <vector>

#include "harness/core/applications/application_comparison.h"

namespace apo {

// The one that decides, and where a fixed time is declared the other.
std::vector<ApplicationView> views_of(const DeclaredApplication& application);

// Fills everything from the outcome to the sentence, from the runs alone. The speed follows the rule of the first
// look at a kernel (level 0.001, margin 0.3 %) over the pairs; the quality two one-sided tests over the seeds. Accepted
// is what is faster and not worse.
void decide(ApplicationComparison& comparison);

// Decides the recorded runs again: "" where that gives what is recorded bit for bit, or where another version of the
// rule made it, else a sentence.
std::string difference_on_replay(const ApplicationComparison& comparison);

}  // namespace apo
