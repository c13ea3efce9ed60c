// harness/core/npy.h - NumPy's .npy format, version 1.0, for the dtypes that families use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/family.h"

namespace apo {

struct NpyArray {
  DType dtype = DType::f64;  // as the file has it
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

// Little-endian, C order, in the dtype's own NumPy form; bf16, e4m3 and e5m2 have none, and travel as float32, which
// holds each of their values.
std::string npy_text(const std::vector<std::int64_t>& shape, const std::vector<double>& values,
                     DType dtype = DType::f64);
void write_npy(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
               const std::vector<double>& values, DType dtype = DType::f64);
// Reads floats and integers of NumPy, C order. Throws UserError naming the file and what is wrong.
NpyArray read_npy(const std::filesystem::path& path);

}  // namespace apo
