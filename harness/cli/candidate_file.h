// harness/cli/candidate_file.h - the candidate that a command was given: a source file, or its text on standard input.
#pragma once

#include <string>

#include "harness/core/system/files.h"
#include "harness/loop/trial/candidate_judge.h"

namespace apo {

// `file`, or for "-" a file in the folder with the text of standard input, named by its text. Throws UserError for one
// that is empty or longer than 1 MiB.
GivenCandidate candidate_file(const std::string& file, const TemporaryFolder& folder);

}  // namespace apo
