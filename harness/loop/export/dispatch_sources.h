// harness/loop/export/dispatch_sources.h - the sources that go with a dispatch header.
#pragma once

#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/loop/export/dispatch_table.h"

namespace apo {

// Returns "<family>/<variant>-<start of the source hash>", the folder of a row's sources relative to the header.
std::string source_folder(const DispatchRow& row);
std::string source_file(const DispatchRow& row);  // its name there
// Returns the variants' own files and argument headers that take their constants from -DAPO_..., each once. Throws
// UserError for a variant whose name is no file name.
std::vector<NamedText> dispatch_sources(const DispatchTable& table);

}  // namespace apo
