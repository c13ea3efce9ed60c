// harness/loop/trial/candidate_source.cpp - names a text by its hash and its language.
#include "harness/loop/trial/candidate_source.h"

#include <cstdio>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/sources.h"
#include "harness/core/system/files.h"

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

GivenCandidate file_of_source(const std::string& source, const std::string& extension,
                              const std::filesystem::path& folder) {
  check_source_size(source.size(), "the source");
  if (!extension.empty() && !is_source_extension(extension)) {
    throw UserError("unknown extension '" + extension + "'", "known: .cpp, .cu, .py");
  }
  constexpr std::size_t kHash = 8;
  const std::filesystem::path path = folder / ("candidate_" + sha256(source).substr(0, kHash) +
                                               (extension.empty() ? guessed_extension(source) : extension));
  write_file_atomically(path, source);
  return {.path = path.string(), .shown = path.filename().string()};
}

GivenCandidate candidate_file(const std::string& file, const std::filesystem::path& folder) {
  if (file == "-") {
    return file_of_source(piped_source(), "", folder);
  }
  static_cast<void>(candidate_text(file));  // throws where it is none
  return {.path = file, .shown = file};
}

}  // namespace apo
