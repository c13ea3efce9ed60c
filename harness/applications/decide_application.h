// harness/applications/decide_application.h - derives the verdict from the recorded runs of an application.
#pragma once

#include <string>
#include <vector>

#include "harness/core/applications/application_comparison.h"

namespace apo {

// Returns the view that decides, then the second one if a fixed time is declared.
std::vector<ApplicationView> views_of(const DeclaredApplication& application);

// Fills everything from the outcome to the sentence, from the runs alone. The speed follows the rule of the first
// look at a kernel (level 0.001, margin 0.3 %) over the pairs; the quality two one-sided tests over the seeds. Accepted
// is what is faster and not worse.
void decide(ApplicationComparison& comparison);

// Decides the recorded runs again. Returns "" if the result equals the recorded one bit for bit or another version of
// the rule made that one, else a sentence.
std::string difference_on_replay(const ApplicationComparison& comparison);

}  // namespace apo
