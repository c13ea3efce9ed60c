// harness/exchange/torch_cases.h - inputs and expected outputs of the small workloads, as NumPy files.
#pragma once

#include <vector>

#include "harness/core/system/files.h"
#include "kernels/family.h"

namespace apo {

// <family>_cases/cases.json, and for each small or ragged workload a folder with NAME.npy of each input, and
// NAME.expected.npy (fp64) and NAME.scale.npy (scale_i of struct Tolerance) of each output. `gradient` computes the
// gradient, or is nullptr: then also what arrives at the outputs, and what is expected of its outputs.
std::vector<NamedText> torch_cases(const Family& family, const Family* gradient, int threads);

}  // namespace apo
