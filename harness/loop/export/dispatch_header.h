// harness/loop/export/dispatch_header.h - a dispatch table as a C++17 header.
#pragma once

#include <string>

#include "harness/loop/export/dispatch.h"

namespace apo {

std::string dispatch_header_name(const Family& family);  // "<family>_dispatch.h"

// The header depends on the standard library alone. Throws UserError for a journal whose expressions cannot be written
// as C++.
std::string dispatch_header(const DispatchTable& table);

}  // namespace apo
