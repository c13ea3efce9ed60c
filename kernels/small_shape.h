// kernels/small_shape.h - scales the sizes of a workload down, to few elements of the same contract.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kernels/family.h"

namespace apo {

// A workload with at most so many elements of all tensors together is small: all of it is computed. A larger one is
// scaled down to at most the second number.
inline constexpr std::int64_t kSmallElements = std::int64_t{1} << 16;
inline constexpr std::int64_t kScaledElements = std::int64_t{1} << 14;

// Halves axes until all tensors have at most `most` elements together, or nothing can be halved: at each step the
// longest axis that the contract lets be halved, else the fewest axes that it lets be halved together. An odd size
// stays odd, one below 4 as it is, and so does an axis that a build knows. `weights`: times the length of an axis, 1 by
// default; one with a small weight is halved last. Legal where `axes` are.
Axes small_shape(const Family& family, Axes axes, std::int64_t most = kScaledElements,
                 const std::map<std::string, double>& weights = {});

// Makes those axes odd that are shorter than in `whole`, where the contract allows that.
Axes ragged_shape(const Family& family, Axes axes, const Axes& whole);

}  // namespace apo
