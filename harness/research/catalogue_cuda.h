// harness/research/catalogue_cuda.h - the part of the technique catalogue that is about GPUs.
#pragma once

#include <vector>

#include "harness/research/catalogue.h"

namespace apo {

std::vector<Technique> cuda_techniques();

}  // namespace apo
