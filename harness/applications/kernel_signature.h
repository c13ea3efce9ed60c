// harness/applications/kernel_signature.h - what parameters a kernel takes, from its declaration or its symbol.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/family.h"

namespace apo {

inline constexpr const char* kDeclare = "say them with --declaration 'NAME(const float* x, float* y, int n)'";

// A pointer to numbers, or a number.
struct KernelParameter {
  std::string type;  // of the number: "float", "__nv_bfloat16"
  std::string name;  // as the declaration has it, else "p0", "p1"
  DType dtype = DType::f32;
  bool is_pointer = false;
  bool is_const = false;    // what it points to
  std::int64_t offset = 0;  // byte of the launch's parameters
  bool operator==(const KernelParameter&) const = default;
};

struct KernelSignature {
  std::string name;  // as code calls it: "norms::softmax<float>"
  std::vector<KernelParameter> parameters;
};

// Reads a C++ declaration, "softmax(const float* x, float* y, int n)", or what a mangled symbol says. Throws UserError
// that names the parameter which is no pointer to numbers and no number.
KernelSignature kernel_signature(const std::string& declaration);

// Of the launch's parameters: also its alignment.
std::int64_t bytes_of(const KernelParameter& parameter);

}  // namespace apo
