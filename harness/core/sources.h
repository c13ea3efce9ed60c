// harness/core/sources.h - identifies the files of a variant and shows how two variants differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

// Returns one line "SHA256  NAME" per file, as sha256sum prints it. The variant's own file comes first and is called
// "-".
std::string source_manifest(std::string_view source, const std::vector<SourceFile>& headers);
// Returns Variant::source_hash: the sha256 of the file, or of its manifest when it has headers.
std::string source_identity(std::string_view source, const std::vector<SourceFile>& headers);

// Returns ".cpp", ".cu" or ".py".
std::string source_extension(const Variant& variant);
// Names the variant's own file for a compiler: the name of `path` if it is a plain name with the extension of the
// target, else the variant's name.
std::string source_name(const Variant& variant);
// Is it Python, whose metadata block has '#' in place of '//'? The first line of that block tells.
bool is_python(std::string_view source);
bool is_binary(std::string_view text);
// Returns the text of a file for people; of a binary one its size and hash.
std::string readable_text(const SourceFile& file);
// Returns the variant's own file under source_name(), then its headers.
std::vector<SourceFile> all_sources(const Variant& variant);

// Prints what `diff -u` prints, "" when the files are equal. The own files, which come first in each list, are compared
// whatever their names; headers are compared by name.
std::string unified_diff(const std::vector<SourceFile>& before, const std::vector<SourceFile>& after);

}  // namespace apo
