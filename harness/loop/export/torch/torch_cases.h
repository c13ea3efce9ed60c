// harness/loop/export/torch/torch_cases.h - inputs and expected outputs of the small workloads, as NumPy files.
#pragma once

#include <optional>
#include <vector>

#include "harness/core/system/files.h"
#include "harness/loop/export/dispatch_table.h"
#include "harness/loop/export/torch/torch_contract.h"
#include "harness/loop/export/torch/torch_gradient.h"

namespace apo {

// <family>_cases/cases.json, and for each small or ragged workload a folder with NAME.npy of each input, and
// NAME.expected.npy (fp64) and NAME.scale.npy (scale_i of struct Tolerance) of each output. Where another family
// computes the gradient, also what arrives at the outputs, and what is expected of its outputs.
std::vector<NamedText> torch_cases(const TorchContract& contract, const std::optional<TorchGradient>& gradient,
                                   const DispatchTable& table, int threads);

}  // namespace apo
