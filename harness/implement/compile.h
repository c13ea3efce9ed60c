// harness/implement/compile.h - one run of the host compiler: its limits, its log, its first error, and which files it
// must not read.
//
// The build's key and the journal know a variant by the text of its files. Another input, by a name that only the
// preprocessor puts together or by .incbin, could change or be a secret.
#pragma once

#include <cstddef>
#include <filesystem>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

using Words = std::vector<std::string>;

// The limit on the stored part of a compiler's log.
inline constexpr std::size_t kLongestLog = std::size_t{256} << 10;

Words joined(Words left, const Words& right);

struct CompileStep {
  bool ok = false;
  std::string log;
  std::string evidence;  // one sentence when it failed
  bool timed_out = false;
};

// Runs `command` in `folder`, with a limit on its memory. Throws EnvironmentError when this machine is at fault, and
// Cancelled after a stop.
CompileStep run_step(const Words& command, const std::filesystem::path& folder, double timeout_s,
                     const std::stop_token& stop = {});

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

// Replaces the name of the variant's file, or of its header, at the begin of the sentence by the whole path.
std::string in_users_words(std::string evidence, const Variant& variant);

// Returns the first line of a compiler's output that is an error, else its first line. The linker names the symbol that
// it lacks before the compiler reports that linking failed. `words` are those of an error.
std::string first_error(const std::string& log,
                        const std::vector<std::string_view>& words = {"error:", "undefined reference"});

}  // namespace apo
