// size.h - the product of [3, 100] activations with a weight of [100], as sizes of the dispatch.
#pragma once
#include "binary_backward_dispatch.h"

namespace table = apo_dispatch::binary_backward;

constexpr std::int64_t kRows = 3, kColumns = 100, kMultiply = 2, kLastDimension = 1;
constexpr table::Axes kSize{kMultiply, 1, 1, kLastDimension, 1, 1, 1, 1, 1, 1, kRows, kColumns};
