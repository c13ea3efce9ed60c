// harness/cli/trust/application_comparison_text.h - prints a judgement by an application for people.
#pragma once

#include <string>

#include "harness/core/applications/application_comparison.h"

namespace apo {

// A row for each view, a row for each quality, what was expected, and the verdict.
std::string application_comparison_text(const ApplicationComparison& comparison);

}  // namespace apo
