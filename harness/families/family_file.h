// harness/families/family_file.h - a family file as it is written: its block, its code, and the headers it includes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/families/family_record.h"

namespace apo {

// Throws UserError with path:line, the mistake and its fix.
FamilyFile parse_family(std::string_view text, const std::string& path);
// The same from a regular file; its path becomes absolute.
FamilyFile load_family_file(const std::string& path);

// Returns whether the block of the file begins a family, else it begins a variant.
bool is_family_file(std::string_view text);

// Returns the file's text, then the name and text of each header.
std::string contract_text(const FamilyFile& file);

// "// apo:unit rows n/4096"
std::string unit_line(const std::vector<FileUnitAxis>& units);
// The file with that line in its block. `units` are of all outputs, and the file has none.
FamilyFile with_units(const FamilyFile& file, const std::vector<FileUnitAxis>& units);

std::string_view to_string(ReferencePrecision precision);

}  // namespace apo
