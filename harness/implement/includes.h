// harness/implement/includes.h - the #include lines of a source, and the harness's own headers that it takes in.
#pragma once

#include <filesystem>
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

}  // namespace apo
