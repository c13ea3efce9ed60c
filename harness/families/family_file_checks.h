// harness/families/family_file_checks.h - checks that need more than one line of a family's block.
#pragma once

#include <string>
#include <vector>

#include "harness/families/family_record.h"

namespace apo {

std::vector<std::string> axis_names(const FamilyFile& file);

// The axis that an extent is the whole of at these sizes, "" if none. An extent that is an expression in an axis of
// apo:unit, `kept ? n : 1`, is that axis where it has its value.
std::string axis_of_extent(const FamilyFile& file, const std::string& extent, const Axes& axes);

// The outputs with units of their own, or "" alone where the units are those of all outputs.
std::vector<std::string> unit_groups(const FamilyFile& file);

// The axes of apo:unit that split the work at these sizes: each is a whole extent of every output that is split.
std::vector<FileUnitAxis> units_at(const FamilyFile& file, const Axes& axes);

// Puts the tensors in the order inputs, derived inputs, outputs, and gives each workload its class. Throws UserError
// for a block that lacks a line, and for shapes, units and conditions that do not fit the axes or the workloads.
void check_family_file(FamilyFile& file);

}  // namespace apo
