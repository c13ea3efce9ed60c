// harness/families/family_file.h - a family file as it is written: its block, its code, and the headers it includes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/families/family_record.h"
#include "harness/implement/variant/metadata_block.h"

namespace apo {

// Throws UserError with path:line, the mistake and its fix.
FamilyFile parse_family(std::string_view text, const std::string& path);
// The same from a regular file; its path becomes absolute.
FamilyFile load_family_file(const std::string& path);

// The steps of parse_family(). Reads the lines into `file`, whose path names the place of an error. Throws UserError
// for an unknown or repeated key, and for a value that does not fit its form or the lines before it.
void read_family_lines(FamilyFile& file, const std::vector<BlockLine>& block);
// Puts the tensors in the order inputs, derived inputs, outputs, and gives each workload its class. Throws UserError
// for a block that lacks a line, and for shapes, units and conditions that do not fit the axes or the workloads.
void check_family_file(FamilyFile& file);

// Returns whether the block of the file begins a family, else it begins a variant.
bool is_family_file(std::string_view text);

// Returns the file's text, then the name and text of each header.
std::string contract_text(const FamilyFile& file);

// "// apo:unit rows n/4096"
std::string unit_line(const std::vector<FileUnitAxis>& units);
// "// apo:regimes all but extreme"
std::string regimes_line(const std::vector<std::string>& left_out);
// The file with these lines in its block. `units` are of all outputs, and the file has none; `left_out` are regimes, of
// which the file says nothing. Empty: no such line.
FamilyFile with_found(const FamilyFile& file, const std::vector<FileUnitAxis>& units,
                      const std::vector<std::string>& left_out);

// Returns whether an input may hold NaN or infinities, so that outputs may too.
bool holds_special_values(const FamilyFile& file);

// What an author can do about inputs on which nothing can be compared; NAME is their regime.
inline constexpr const char* kOtherInputs =
    "mend the reference, leave the regime out with '// apo:regimes all but NAME', or allow what it gives with '// "
    "apo:values nan inf'";

// Returns whether outputs are random by contract (apo:random).
bool draws_outputs(const FamilyFile& file);

std::vector<std::string> axis_names(const FamilyFile& file);

// The axis that an extent is the whole of at these sizes, "" if none. An extent that is an expression in an axis of
// apo:unit, `kept ? n : 1`, is that axis where it has its value.
std::string axis_of_extent(const FamilyFile& file, const std::string& extent, const Axes& axes);

// The outputs with units of their own, or "" alone where the units are those of all outputs.
std::vector<std::string> unit_groups(const FamilyFile& file);

// The axes of apo:unit that split the work at these sizes: each is a whole extent of every output that is split.
std::vector<FileUnitAxis> units_at(const FamilyFile& file, const Axes& axes);

}  // namespace apo
