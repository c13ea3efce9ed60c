// harness/cli/comparison_text.h - prints a judgement of two commands, or of two dispatches, for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/core/comparisons/comparison.h"

namespace apo {

// Prints the sentence, a table of the figures, what is known beside them, and the verdict.
std::string comparison_text(const ProgramComparison& comparison);
// Prints of a suite what changed and what cannot be resolved, then the sentence and the verdict; of a command against
// itself also the noise.
std::string suite_text(const ProgramComparison& comparison);
// Prints the same, the request and every round or run.
std::string comparison_in_full(const ProgramComparison& comparison);

// The number of "c3"; nullopt for anything else.
std::optional<std::int64_t> comparison_number(const std::string& word);

}  // namespace apo
