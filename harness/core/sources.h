// harness/core/sources.h - identifies the files of a variant and shows how two variants differ.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

// Returns one line "SHA256  NAME" per file, as sha256sum prints it. The variant's own file comes first and is called
// "-"; the contract of its family comes last, where there is one.
std::string source_manifest(const Variant& variant);
// Returns whether the variant is a single file, which has no manifest.
bool is_one_file(const Variant& variant);
// Returns what Variant::source_hash has to be: the sha256 of the one file, or of the manifest.
std::string source_identity(const Variant& variant);

// Names the contract among the files of a variant; no header can have this name.
inline constexpr const char* kContractName = "contract";

// The largest source from outside, in bytes.
inline constexpr std::size_t kLongestCandidate = std::size_t{1} << 20;
// Throws UserError, which calls the source `name`, when it is empty or longer.
void check_source_size(std::size_t bytes, const std::string& name);
// The text of such a file. Throws UserError when it cannot be read, too.
std::string candidate_text(const std::string& file);

// Returns ".cpp", ".cu" or ".py".
std::string source_extension(const Variant& variant);
// Returns the same for a text without a name, by elements that only this language has.
std::string guessed_extension(std::string_view source);
bool is_source_extension(std::string_view extension);  // one of these three
// Names the variant's own file for a compiler: the name of `path` if it is a plain name with the extension of the
// target, else the variant's name.
std::string source_name(const Variant& variant);
// Returns whether it is Python, whose metadata block has '#' in place of '//', by the first line of that block, else by
// the first line of code.
bool is_python(std::string_view source);
// Returns "apo:family f" of the first comment like that before any code; "" if there is none. `sign` begins comments.
std::string first_block_line(std::string_view source, std::string_view sign);
// Returns whether the harness launches the kernels itself, by apo:launch lines; else the variant's host code does.
bool is_device_variant(const Variant& variant);
inline constexpr std::string_view kRecordExtension = ".record";
bool is_recorded(const Variant& variant);  // its object is a RecordedCall, which runs as it was recorded
bool is_binary(std::string_view text);
// Returns the text of a file for people; of a binary one its size and hash.
std::string readable_text(const SourceFile& file);
// Returns the variant's own file under source_name(), then its headers.
std::vector<SourceFile> all_sources(const Variant& variant);

// Prints what `diff -u` prints, "" when the files are equal. The own files, which come first in each list, are compared
// whatever their names; headers are compared by name.
std::string unified_diff(const std::vector<SourceFile>& before, const std::vector<SourceFile>& after);

}  // namespace apo
