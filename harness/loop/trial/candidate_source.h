// harness/loop/trial/candidate_source.h - a candidate that comes as text or on standard input, as a file.
#pragma once

#include <filesystem>
#include <string>

#include "harness/loop/trial/candidate_judge.h"

namespace apo {

// Writes the text to a file of `folder` that is named by it, so that the same text is the same variant. `extension` is
// ".cpp", ".cu" or ".py"; "" goes by what only a source of that language has. Throws UserError for a text that is empty
// or too long, and for another extension.
GivenCandidate file_of_source(const std::string& source, const std::string& extension,
                              const std::filesystem::path& folder);

// `file`, or for "-" a file of `folder` with the text of standard input. Throws UserError for one that is empty or too
// long.
GivenCandidate candidate_file(const std::string& file, const std::filesystem::path& folder);

}  // namespace apo
