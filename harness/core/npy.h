// harness/core/npy.h - NumPy's .npy format, version 1.0, for the dtypes that families use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/family.h"

namespace apo {

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

// Writes little-endian float64 in C order. bf16 has no NumPy dtype, so exact bf16 values travel as float32 or float64.
void write_npy(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
               const std::vector<double>& values, DType dtype = DType::f64);
// Reads <f4 and <f8 in C order. Throws UserError naming the file and what is wrong.
NpyArray read_npy(const std::filesystem::path& path);

}  // namespace apo
