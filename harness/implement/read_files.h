// harness/implement/read_files.h - finds files that a compilation must not read: a variant is a file with its
// headers, and nothing else of a machine.
//
// The build's key and the journal know a variant by the text of its files. Another input, by a name that
// only the preprocessor puts together or by .incbin, could change or be a secret.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

// Parses the prerequisites of a rule that a compiler or an assembler wrote for make.
std::vector<std::string> read_dependencies(std::string_view rule);

struct ReadableFolders {
  std::filesystem::path draft;                   // with the variant and its argument header
  std::vector<std::filesystem::path> compilers;  // where it looks for its own headers
  std::filesystem::path home;                    // of headers that a build's key covers, here or elsewhere
  std::set<std::string> known;                   // these, as seen from home
};

// Returns the first of the files that lies in none of these folders; "" when there is none. Relative names refer to the
// draft.
std::string foreign_file(const std::vector<std::string>& files, const ReadableFolders& readable);

// Returns the messages of a compiler and an assembler without the text of files outside of the draft. A compiler shows
// the line of any file that `#line` names, and an assembler quotes lines of a file that `.include` names.
std::string without_foreign_text(const std::string& log, const std::filesystem::path& draft);

}  // namespace apo
