// harness/loop/export/torch/torch_contract.h - a family's contract in the words of PyTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/family.h"

namespace apo {

// A tensor with its extents as expressions over the axes.
struct TorchTensor {
  const TensorSpec* spec = nullptr;
  std::vector<std::string> extents;
};

// An axis is the extent of an input, or an argument of the op.
struct TorchAxis {
  std::string name;
  std::optional<std::int64_t> default_value;  // of an argument
  bool is_extent = false;
  std::size_t input = 0;  // where it is an extent: of this input,
  std::size_t dimension = 0;
};

struct TorchContract {
  const Family* family = nullptr;
  std::vector<TorchTensor> inputs;  // derived ones too
  std::vector<TorchTensor> outputs;
  std::vector<TorchAxis> axes;  // in contract order
};

// Throws UserError for a family whose shapes are no expressions over its axes, or whose names are no identifiers.
TorchContract torch_contract(const Family& family);

// Returns "copy(Tensor x, *, int n) -> Tensor". Arguments stand behind the tensors, those without a default first.
std::string torch_schema(const TorchContract& contract);
// The arguments in the order of the schema.
std::vector<const TorchAxis*> torch_arguments(const TorchContract& contract);

std::string_view torch_dtype(DType dtype);  // "bfloat16", as in torch.bfloat16

}  // namespace apo
