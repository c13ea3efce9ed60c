// harness/exchange/exchange.h - other tools' problems and ops: what they get of the program's documents, and
// what it takes from them. The Python files beside this one convert.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/families/oracle_program.h"
#include "harness/loop/export/dispatch.h"
#include "kernels/family.h"

namespace apo {

// A family as JSON: what `apo list FAMILY --json` prints and the conversions read. With what only the file of a family
// says (how inputs are drawn, where it came from), null or "" for one without a file.
nlohmann::ordered_json to_document(const Family& family);

struct Converted {
  std::vector<NamedText> files;   // by their path within the conversion's folder
  nlohmann::ordered_json report;  // what it printed
};

// Returns the interpreter. Throws EnvironmentError where there is none.
std::string require_python();

// Runs `PYTHON HOME/harness/exchange/SCRIPT`, "" for the python3 of PATH, with the document on its standard input.
// Throws UserError with the script's message and hint, or where it does not end, and EnvironmentError where there is no
// python3.
Converted convert(const std::filesystem::path& home, const std::string& script, const nlohmann::ordered_json& document,
                  const std::string& python = "", double timeout_s = 600);

// ---------------------------------------------------------------- `apo import definition` and `apo import kernelbench`

struct ImportRequest {
  std::string kernelbench;         // a file with class Model, of which the definition is made; empty: none
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
ImportResult import_definition(ImportRequest request, const OracleOptions& options,
                               const std::filesystem::path& scratch);

// ---------------------------------------------------------------- `apo export --torch`: a dispatch table as an op of
// PyTorch

// Returns the files beside the table's header and sources: the op in C++, the Python file that builds it, and a test on
// the family's small and ragged workloads. `home` is the program's folder. Throws UserError for a family or a row that
// PyTorch cannot call.
std::vector<NamedText> torch_files(const DispatchTable& table, const std::filesystem::path& home, int threads);

}  // namespace apo
