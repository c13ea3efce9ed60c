// harness/evaluate/correctness/covering_shapes.h - draws few shapes in which every axis, and every two of them
// together, lie at their minimum, inside and beyond the listed workloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/family.h"

namespace apo {

// Of all tensors of a shape that is drawn.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 19;
inline constexpr std::int64_t kMostElementsInExecutor = std::int64_t{1} << 15;  // it takes turns between all threads

// The most that one shape may cost.
struct ShapeBudget {
  std::int64_t elements = 0;  // of all tensors together
  double operations = 0;      // of the reference, for the units that a check computes
};

// Counts the operations of one check, which computes some of the units; 0 if the sizes are not legal.
double checked_operations(const Family& family, const Axes& axes);

// The small and ragged workloads, the smallest first. Where there are some and none of them is taken, with a production
// workload that is, each of its axes halved as often as that is taken, if that leaves at most so many elements.
std::vector<Axes> base_shapes(const Family& family, const std::function<bool(const Axes&)>& takes,
                              std::int64_t most_elements);

// Draws at most `most` shapes of no workload, all legal, within the budget, and such that `takes` holds. Each axis that
// no build knows lies at its minimum, or inside: above that and up to its largest value in a workload that is not
// extreme, or beyond that.
// Every two axes have each combination of these in some shape, as far as `most` reach. Values above the minimum are in
// turn a prime, one less and one more than a power of two, and any. A draw that is not legal or not taken is moved to a
// value nearby: another axis' value, a multiple of it, a rounded one. Axes that a build knows keep the values of a
// workload. Then `more` shapes are drawn in the same way, as far as `most` reach.
std::vector<Axes> covering_shapes(const Family& family, const ShapeBudget& budget, std::size_t most,
                                  const std::function<bool(const Axes&)>& takes, std::uint64_t seed,
                                  std::size_t more = 0);

}  // namespace apo
