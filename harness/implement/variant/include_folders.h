// harness/implement/variant/include_folders.h - the folders of other people's headers that apo:include lines name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

// Where an apo:include line of the file `path` points: the CUDA toolkit's own CCCL for "cccl", else an absolute folder,
// or one below that of the file, or below the working folder. Empty when there is no such folder.
std::filesystem::path include_folder(const std::string& named, const std::filesystem::path& path);

struct IncludeFolders {
  std::vector<std::filesystem::path> own;      // of the user: what is included from them is part of a build's key
  std::vector<std::filesystem::path> toolkit;  // of the toolkit, whose version stands in the key
  std::string missing;                         // a sentence about the first that is not there; empty: all are

  std::vector<std::filesystem::path> all() const;
};
IncludeFolders include_folders(const Variant& variant);

}  // namespace apo
