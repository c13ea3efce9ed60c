// harness/loop/exchange/imported_problem.h - a definition in the words of a family: axes, conditions and workloads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/loop/exchange/definition.h"
#include "harness/loop/exchange/safetensors.h"
#include "kernels/family.h"

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

// "rows=4 cols=8", in the order of the definition.
std::string axes_text(const ImportedProblem& problem, const Axes& axes, const std::string& separator);
std::vector<std::int64_t> extents_of(const ImportedProblem& problem, const DefinitionTensor& tensor, const Axes& axes);
// The axis as an extent of a shape: its name, or "(cols/2)" of one that is computed. Throws std::invalid_argument.
std::string extent_text(const Definition& definition, const std::string& axis);
// "[rows,(cols/2)]"; throws UserError for an expression that is not understood.
std::string shape_text(const ImportedProblem& problem, const DefinitionTensor& tensor);

}  // namespace apo
