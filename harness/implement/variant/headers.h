// harness/implement/variant/headers.h - finds the headers that are part of a variant.
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

}  // namespace apo
