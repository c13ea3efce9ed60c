// kernels/e88/inputs.h - the input regimes of the E88 families.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/e88/shape.h"
#include "kernels/random.h"

namespace apo::e88 {

// "typical" first; see inputs.cpp for what each draws and why.
std::vector<std::string> regime_names();

// Draws the named tensors; each unit has streams of its own, so the number of threads changes nothing.
// Throws std::invalid_argument for a regime that is not in regime_names().
TensorMap draw(const Shape& shape, const std::vector<std::string_view>& names, std::uint64_t seed,
               std::string_view regime, int threads);

// Normal values times `scale` into a row.
void fill_normal(Random& random, double scale, double* values, std::int64_t count);

}  // namespace apo::e88
