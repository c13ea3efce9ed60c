// harness/cli/candidate_file.cpp - reads standard input once, with a limit.
#include "harness/cli/candidate_file.h"

#include <cstdio>

#include "harness/core/error.h"
#include "harness/core/sources.h"
#include "harness/loop/trial/candidate_judge.h"

namespace apo {
namespace {

// All of standard input.
std::string piped_source() {
  std::string text;
  char buffer[1 << 16];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0;) {
    text.append(buffer, got);
    if (text.size() > kLongestCandidate) {
      throw UserError("the source is longer than 1 MiB");
    }
  }
  return text;
}

}  // namespace

GivenCandidate candidate_file(const std::string& file, const TemporaryFolder& folder) {
  if (file == "-") {
    return file_of_source(piped_source(), "", folder.path());
  }
  static_cast<void>(candidate_text(file));  // throws where it is none
  return {.path = file, .shown = file};
}

}  // namespace apo
