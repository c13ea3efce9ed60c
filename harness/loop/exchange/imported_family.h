// harness/loop/exchange/imported_family.h - writes a definition as a family file, with the program that is its
// reference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/families/family_record.h"
#include "harness/loop/exchange/definition.h"
#include "harness/loop/exchange/safetensors.h"

namespace apo {

// A workload that is imported, with its name as a workload of the family.
struct ImportedWorkload {
  std::string name;
  Axes axes;  // of the family
  DefinitionWorkload source;
};

// A definition in the words of a family: names, expressions over its axes, and the workloads that it can have.
struct ImportedProblem {
  std::string family;
  Definition definition;
  std::vector<AxisSpec> axes;
  std::string legal;  // of the constraints that speak of axes alone
  std::vector<ImportedWorkload> workloads;
  std::vector<StoredTensor> recorded;  // under "AXIS=VALUE,.../INPUT"
  std::vector<std::string> remarks;    // what was left out, and why
};

// Throws UserError when nothing that can be imported is left.
ImportedProblem import_problem(const Definition& definition, const std::vector<DefinitionWorkload>& workloads,
                               const std::filesystem::path& folder, const std::string& family);

struct ImportedPrecision {
  ReferencePrecision widest = ReferencePrecision::float64;
  ReferencePrecision honest = ReferencePrecision::declared;
};

// NAME.h, NAME_reference.py, NAME_definition.py and, where values were recorded, NAME_recorded.safetensors.
std::vector<NamedText> family_texts(const ImportedProblem& problem, const std::string& python,
                                    const ImportedPrecision& precision);

}  // namespace apo
