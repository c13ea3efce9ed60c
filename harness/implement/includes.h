// harness/implement/includes.h - the harness's own headers that a source includes: part of what is built.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace apo {

// Path and contents of every file under `home` (or named by an absolute path) that `source` includes, directly or not,
// sorted by path. Conditions are not evaluated, so it may name more than the compiler reads. System headers belong to
// the toolchain and are left out.
std::vector<std::string> included_files(const std::string& source, const std::filesystem::path& home);

}  // namespace apo
