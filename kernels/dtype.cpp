// kernels/dtype.cpp - the facts of each dtype, and its conversions.
#include "kernels/dtype.h"

#include <algorithm>
#include <cmath>

namespace apo {

std::optional<DType> find_dtype(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](DType dtype) { return to_string(dtype) == name; });
  return found == std::end(kDTypes) ? std::nullopt : std::optional(*found);
}

std::string_view to_string(DType dtype) {
  return facts_of(dtype).name;
}

double unit_roundoff(DType dtype) {
  return is_float(dtype) ? std::ldexp(1.0, -facts_of(dtype).precision) : 0;
}

}  // namespace apo
