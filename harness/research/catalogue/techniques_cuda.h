// harness/research/catalogue/techniques_cuda.h - the part of the technique catalogue for GPUs.
#pragma once

#include <vector>

#include "harness/research/catalogue/technique.h"

namespace apo {

std::vector<Technique> cuda_techniques();

}  // namespace apo
