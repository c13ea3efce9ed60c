// harness/core/sources.h - identifies the files of a variant and shows how two variants differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

// One line "SHA256  NAME" a file, as sha256sum prints it; the variant's own file comes first and is called "-".
std::string source_manifest(std::string_view source, const std::vector<SourceFile>& headers);
// Variant::source_hash: the sha256 of the file, or of its manifest when it has headers.
std::string source_identity(std::string_view source, const std::vector<SourceFile>& headers);

// The name that a variant's own file has for a compiler: that of `path` where it is a plain name with the extension of
// the target, else the variant's.
std::string source_name(const Variant& variant);
// The variant's own file under source_name(), then its headers.
std::vector<SourceFile> all_sources(const Variant& variant);

// What `diff -u` prints of the files, "" when they are equal. Each variant's own file is the first of its list, and
// these two are compared under whatever names; headers are compared by name.
std::string unified_diff(const std::vector<SourceFile>& before, const std::vector<SourceFile>& after);

}  // namespace apo
