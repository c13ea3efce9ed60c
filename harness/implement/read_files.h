// harness/implement/read_files.h - which files a compilation read: a variant is a file with its headers, and
// nothing else of a machine.
//
// The build's key and the journal know a variant by the text of its files. What it takes in besides, by a name that
// only the preprocessor puts together or by .incbin, could be another thing tomorrow, or somebody's secret.
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

// Returns what a compiler and an assembler said without the text of files outside of the draft. A compiler shows the
// line of whatever file `#line` names, and an assembler quotes what it cannot read of a file that `.include` names.
std::string without_foreign_text(const std::string& log, const std::filesystem::path& draft);

}  // namespace apo
