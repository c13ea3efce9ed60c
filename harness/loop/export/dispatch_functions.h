// harness/loop/export/dispatch_functions.h - the C++ functions of one row of a dispatch table.
#pragma once

#include <cstddef>
#include <string>

#include "harness/loop/export/dispatch_table.h"

namespace apo {

// Writes serves_<index>(axes, device), which tests the row's conditions, and plan_<index>(axes, device), which returns
// its launches, scratch and constants. Throws UserError naming the variant for an expression that does not parse.
std::string dispatch_functions(const Family& family, const DispatchRow& row, std::size_t index);

}  // namespace apo
