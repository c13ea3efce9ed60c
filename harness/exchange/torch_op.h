// harness/exchange/torch_op.h - a dispatch table as an op of PyTorch: `apo export --torch`.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/loop/export/dispatch.h"

namespace apo {

// Returns the files beside the table's header and sources: the op in C++, the Python file that builds it, and a test on
// the family's small and ragged workloads. `home` is the program's folder. Throws UserError for a family or a row that
// PyTorch cannot call.
std::vector<NamedText> torch_files(const DispatchTable& table, const std::filesystem::path& home, int threads);

}  // namespace apo
