// harness/implement/variant/functions.h - the functions that a C++ or CUDA source defines for the host, by its text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/core/expression/expression.h"

namespace apo {

struct Parameter {
  std::string text;  // "const float* inp", without a default
  std::string type;  // "const float*"
  std::string name;  // "" where it has none
  bool optional = false;
};

struct FunctionText {
  std::string name;
  int line = 0;  // of the name, from 1
  std::vector<Parameter> parameters;
  bool is_template = false;
  bool launches = false;  // a kernel, by <<<...>>>

  std::string signature() const;  // "layernorm(const float* inp, int N)"
};

// Returns the functions with a body that stand in no class and no other function, kernels and device functions left
// out. A guess by the text alone: macros are not expanded, and both sides of an #if count unless its condition is the
// name of one of `known`, or that name behind a '!'.
std::vector<FunctionText> host_functions(std::string_view source, const Symbols& known = {});

}  // namespace apo
