// harness/loop/dispatch_header.h - a dispatch table as a C++17 header, and the sources that go with it.
#pragma once

#include <string>
#include <vector>

#include "harness/core/files.h"
#include "harness/loop/dispatch.h"

namespace apo {

std::string dispatch_header_name(const Family& family);  // "<family>_dispatch.h"

// Depends on the standard library alone. Throws UserError for a journal whose expressions cannot be written as C++.
std::string dispatch_header(const DispatchTable& table);

// "<family>/<variant>-<start of the source hash>": where the sources of a row are put, relative to the header.
std::string source_folder(const DispatchRow& row);
// The variants' own files and argument headers that take their constants from -DAPO_..., each once.
std::vector<NamedText> dispatch_sources(const DispatchTable& table);

}  // namespace apo
