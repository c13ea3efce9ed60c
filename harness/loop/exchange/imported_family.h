// harness/loop/exchange/imported_family.h - writes a definition as a family file, with the program that is its
// reference.
#pragma once

#include <string>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/families/family_record.h"
#include "harness/loop/exchange/imported_problem.h"

namespace apo {

struct ImportedPrecision {
  ReferencePrecision widest = ReferencePrecision::float64;
  ReferencePrecision honest = ReferencePrecision::declared;
};

// NAME.h, NAME_reference.py, NAME_definition.py and, where values were recorded, NAME_recorded.safetensors.
std::vector<NamedText> family_texts(const ImportedProblem& problem, const std::string& python,
                                    const ImportedPrecision& precision);

}  // namespace apo
