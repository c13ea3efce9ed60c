// harness/implement/include_names.h - which files a text may name for the compiler to read.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace apo {

struct StrayInclude {
  int line = 0;      // from 1
  std::string what;  // "</etc/passwd>", or "NAME" where a macro names the file
};

// The first include directive that names a file by its absolute path, through '..', or by a macro other than one that
// `all`, the text of all files, defines as a plain name: the compiler would read it, and print parts of it where it is
// no C++, before anybody knows what it has read. Quoted names of `looked_up` are somebody else's to check. Conditions
// are not evaluated, and what looks like a directive is one, in comments and raw strings too: no trick hides one.
std::optional<StrayInclude> stray_include(std::string_view source, std::string_view all,
                                          const std::set<std::string>& looked_up = {});

}  // namespace apo
