// harness/implement/variant/headers.h - finds the headers that are part of a variant, and the folders of other people's
// that its apo:include lines name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20;  // of a file, and of all files of a variant
inline constexpr std::size_t kMostHeaders = 64;

// The headers that a variant of `family` in the file `path` includes with quotes, directly or not, by name. A name is
// looked up beside the file that includes it, or in a folder below, then in <root>/<family>/ and in <root>/common/ of
// each root; SourceFile::name is as seen from the variant's own file. The generated <family>.args.h, the harness's own
// kernels/*.h and what lies in one of the `others`, folders of
// apo:include lines, are none of them. A name stands for one text.
// Throws UserError naming path:line for a header that is missing, has no plain name or includes itself, and for too
// many or too large ones.
std::vector<SourceFile> find_headers(std::string_view source, const std::string& path, const std::string& family,
                                     const std::vector<std::filesystem::path>& roots,
                                     const std::vector<std::filesystem::path>& others = {});

// Throws UserError when headers that come from a journal or a baseline file have names that find_headers() refuses.
void check_headers(const std::vector<SourceFile>& headers, const std::string& path, const std::string& family);

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
