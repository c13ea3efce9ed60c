// harness/loop/trial/candidate_source.h - a candidate that comes as text, as a file.
#pragma once

#include <filesystem>
#include <string>

#include "harness/loop/trial/candidate_judge.h"

namespace apo {

inline constexpr std::size_t kLongestCandidate = std::size_t{1} << 20;

// Writes the text to a file of `folder` that is named by it, so that the same text is the same variant. `extension` is
// ".cpp", ".cu" or ".py"; "" goes by what only a source of that language has. Throws UserError for a text that is empty
// or too long, and for another extension.
CandidateFile file_of_source(const std::string& source, const std::string& extension,
                             const std::filesystem::path& folder);

// Throws UserError, which calls the source `name`, when it is empty or too long.
void check_source_size(std::size_t bytes, const std::string& name);

}  // namespace apo
