// harness/loop/exchange/safetensors.h - tensors in the .safetensors format: 8 bytes of length, a JSON header, the data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/dtype.h"

namespace apo {

struct StoredTensor {
  std::string key;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

// One tensor of a file. Throws UserError naming the file and what is wrong: no such key, a header that is cut off or
// not JSON, a dtype that apo has not, offsets that do not fit shape and file.
StoredTensor read_safetensor(const std::filesystem::path& path, const std::string& key);

// The contents of a file of these tensors.
std::string safetensors_text(const std::vector<StoredTensor>& tensors);

}  // namespace apo
