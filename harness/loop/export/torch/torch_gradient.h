// harness/loop/export/torch/torch_gradient.h - finds the family that computes the gradient of another one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/loop/export/torch/torch_contract.h"

namespace apo {

// The role of one input of the gradient's family in the family that it differentiates.
struct GradientInput {
  enum class Is : std::uint8_t {
    input,     // of the forward, unchanged
    output,    // of the forward, kept
    gradient,  // that arrives at an output of the forward
  };
  Is is = Is::input;
  std::size_t index = 0;  // among the forward's inputs or outputs
};

struct TorchGradient {
  TorchContract contract;             // of the family that computes it
  std::vector<GradientInput> inputs;  // for each of its inputs
  std::vector<std::size_t> outputs;   // for each of its outputs: the forward's input whose gradient it is
  std::vector<std::string> arguments;
};

// Finds it by names, dtypes and shapes: the gradient of a tensor `x` is called `dx` or `d_x`. nullopt unless a known
// family takes only inputs, outputs and gradients of `forward`, and computes only gradients of its inputs.
std::optional<TorchGradient> torch_gradient(const TorchContract& forward);

}  // namespace apo
