// harness/implement/include_names.h - finds include directives that name forbidden files.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace apo {

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
