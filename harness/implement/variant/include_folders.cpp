// harness/implement/variant/include_folders.cpp - resolves the folders of a variant at the time of a build.
#include "harness/implement/variant/include_folders.h"

#include "harness/implement/toolkit.h"

namespace apo {
namespace fs = std::filesystem;
namespace {

constexpr const char* kCccl = "cccl";

bool is_folder(const fs::path& path) {
  std::error_code unreadable_is_none;
  return fs::is_directory(path, unreadable_is_none);
}

// CUDA 13 has CCCL in a folder of its own, CUDA 12 among its other headers.
fs::path cccl() {
  for (const fs::path& toolkit : toolkit_folders()) {
    for (const fs::path& folder : {toolkit / "include" / "cccl", toolkit / "include"}) {
      if (is_folder(folder / "cub")) {
        return folder;
      }
    }
  }
  return {};
}

}  // namespace

fs::path include_folder(const std::string& named, const fs::path& path) {
  if (named == kCccl) {
    return cccl();
  }
  for (const fs::path& folder : {path.parent_path() / named, fs::current_path() / named}) {
    if (is_folder(folder)) {
      return fs::canonical(folder);
    }
  }
  return {};
}

std::vector<fs::path> IncludeFolders::all() const {
  std::vector<fs::path> folders = own;
  folders.insert(folders.end(), toolkit.begin(), toolkit.end());
  return folders;
}

IncludeFolders include_folders(const Variant& variant) {
  IncludeFolders folders;
  for (const std::string& named : variant.includes) {
    const fs::path folder = include_folder(named, variant.path);
    if (folder.empty() && folders.missing.empty()) {
      folders.missing = named == kCccl ? variant.id() +
                                             " includes CCCL, and there is no CUDA toolkit with it here: "
                                             "install cuda-cccl-13-0, or set CUDA_HOME"
                                       : "the include folder '" + named + "' of " + variant.id() + " is not there";
    } else if (!folder.empty()) {
      (named == kCccl ? folders.toolkit : folders.own).push_back(folder);
    }
  }
  return folders;
}

}  // namespace apo
