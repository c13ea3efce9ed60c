// harness/cli/candidate_source.cpp - reads standard input once, with a limit.
#include "harness/cli/candidate_source.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/hash.h"
#include "harness/core/sources.h"

namespace apo {
namespace {

constexpr std::size_t kLongestSource = std::size_t{1} << 20;

// All of standard input.
std::string piped_source() {
  std::string text;
  char buffer[1 << 16];
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof(buffer), stdin)) > 0;) {
    text.append(buffer, got);
    if (text.size() > kLongestSource) {
      throw UserError("the source is longer than 1 MiB");
    }
  }
  return text;
}

}  // namespace

CandidateFile candidate_file(const std::string& file, const TemporaryFolder& folder) {
  const std::string source = file == "-" ? piped_source() : read_file(file);
  if (source.empty() || source.size() > kLongestSource) {
    throw UserError(fmt::format("'{}' is {}", file, source.empty() ? "empty" : "longer than 1 MiB"));
  }
  if (file != "-") {
    return {.path = file, .shown = file};
  }
  const std::filesystem::path path =
      folder.path() / ("candidate_" + sha256(source).substr(0, 8) + guessed_extension(source));
  write_file_atomically(path, source);
  return {.path = path.string(), .shown = path.filename().string()};
}

}  // namespace apo
