// harness/worker/code/link_names.h - which libraries a shared object names: itself, and those that it cannot do
// without.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace apo {

struct LinkNames {
  std::string own;                  // DT_SONAME; the file's name where it has none
  std::vector<std::string> needed;  // DT_NEEDED
};

// Reads an ELF64 file of this machine. Returns only the file's name for any other or damaged file; never throws for
// that.
LinkNames read_link_names(const std::filesystem::path& file);

}  // namespace apo
