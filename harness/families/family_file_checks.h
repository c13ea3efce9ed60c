// harness/families/family_file_checks.h - checks that need more than one line of a family's block.
#pragma once

#include <string>
#include <vector>

#include "harness/families/family_record.h"

namespace apo {

std::vector<std::string> axis_names(const FamilyFile& file);

// Puts the tensors in the order inputs, derived inputs, outputs, and gives each workload its class. Throws UserError
// for a block that lacks a line, and for shapes, units and conditions that do not fit the axes or the workloads.
void check_family_file(FamilyFile& file);

}  // namespace apo
