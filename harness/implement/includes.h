// harness/implement/includes.h - the #include lines of a source: the harness's own headers that it takes in, and
// directives that name forbidden files.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

struct IncludeLine {
  int number = 0;  // from 1
  std::string name;
  bool quoted = false;  // "name", else <name>
};

// Returns the include lines outside of comments; conditions are not evaluated.
std::vector<IncludeLine> include_lines(std::string_view source);

// Returns path and contents of every file under `home` or one of `others` (or named by an absolute path) that `files`
// include, directly or not, sorted by path as seen from `home`: part of what is built. It may name more than the
// compiler reads. System headers belong to the toolchain and are left out.
std::vector<std::string> included_files(const std::vector<SourceFile>& files, const std::filesystem::path& home,
                                        const std::vector<std::filesystem::path>& others = {});

struct StrayInclude {
  int line = 0;      // from 1
  std::string what;  // "</etc/passwd>", or "NAME" if a macro names the file
};

// Returns the first include directive that names a file by its absolute path, through '..', or by a macro, except
// macros that `all`, the text of all files, defines as a plain name. The compiler would read such a file and print
// parts of it if it is no C++. Quoted names of `looked_up` are checked elsewhere. Conditions are not evaluated, and
// directives in comments and raw strings count too: no trick hides one.
std::optional<StrayInclude> stray_include(std::string_view source, std::string_view all,
                                          const std::set<std::string>& looked_up = {});

}  // namespace apo
