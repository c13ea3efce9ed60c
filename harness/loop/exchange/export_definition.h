// harness/loop/exchange/export_definition.h - a family as a problem of FlashInfer-Trace and SOL-ExecBench: `apo export
// definition`.
#pragma once

#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/families/family_record.h"

namespace apo {

// definition.json, workload.jsonl and, where values were recorded, their file. An imported family has its reference in
// Python and gives, when it is imported again under its name, the same files; `reference` is the Python source with
// run() of any other. Throws UserError for a family that their format cannot say, or whose reference is missing.
std::vector<NamedText> definition_texts(const FamilyFile& file, const std::string& reference);

// The text of a Python file for `reference`. Throws UserError where it is not there, is no Python, or has no run() that
// takes the family's inputs and scalars.
std::string python_reference(const FamilyFile& file, const std::string& path);

}  // namespace apo
