// harness/cli/trust/application_comparison_text.h - prints a judgement by an application for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/applications/application_comparison.h"

namespace apo {

// Prints a row for each view, a row for each quality, the expected effect, and the verdict.
std::string application_comparison_text(const ApplicationComparison& comparison);
// Prints the same, the request and every run.
std::string application_comparison_in_full(const ApplicationComparison& comparison);

// The number of "a3"; nullopt for anything else.
std::optional<std::int64_t> application_number(const std::string& word);

}  // namespace apo
