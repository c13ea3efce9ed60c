// harness/exchange/import_definition.h - a definition becomes a family file whose reference runs: `apo import
// definition`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/families/oracle_program.h"

namespace apo {

struct ImportRequest {
  std::string definition;          // definition.json, or its folder
  std::string workloads;           // empty: beside it
  std::string name;                // of the family; empty: the definition's
  std::string python = "python3";  // that has PyTorch
};

struct ImportResult {
  std::string family;
  std::vector<NamedText> files;      // relative to where they are to go; NAME.h is one of them
  std::vector<std::string> remarks;  // what was left out, and why
  std::size_t workloads = 0;
};

// Writes nothing outside of `scratch`, where the files are too, so that the family can be checked. The reference runs
// once on the smallest workload, in the widest precision that it can compute in. Throws UserError.
ImportResult import_definition(const ImportRequest& request, const OracleOptions& options,
                               const std::filesystem::path& scratch);

}  // namespace apo
