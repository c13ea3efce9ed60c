// harness/evaluate/correctness/largest_launches.cpp - looks for the largest sizes along one axis and along two.
#include "harness/evaluate/correctness/largest_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "kernels/random.h"

namespace apo {
namespace {

constexpr double kMostBytes = 0x1p38;  // more than any GPU has

// In doubles: the sizes of a contract may have products beyond 2^63.
double bytes_of(const Family& family, const Axes& axes) {
  double bytes = 0;
  for (const TensorSpec& tensor : family.tensors) {
    double of_tensor = static_cast<double>(dtype_bytes(tensor.dtype));
    for (const std::int64_t extent : tensor.shape(axes)) {
      of_tensor *= static_cast<double>(extent);
    }
    bytes += of_tensor;
  }
  return bytes;
}

// The first number in (low, high] for which `holds`, where it does for all larger ones and for `high`.
std::int64_t first_where(std::int64_t low, std::int64_t high, const std::function<bool(std::int64_t)>& holds) {
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

class Sizes {
 public:
  Sizes(const Runtime& runtime, const Configuration& configuration)
      : runtime_(runtime), family_(*runtime.family), configuration_(configuration) {}

  // The smallest sizes that the configuration takes: every axis at its minimum, or the smallest workload with each axis
  // as small as it gets; nullopt for none.
  std::optional<Axes> smallest() const {
    Axes least;
    for (const AxisSpec& axis : family_.axes) {
      least[axis.name] = std::max<std::int64_t>(axis.min, std::min<std::int64_t>(1, axis.max));
    }
    if (takes(least)) {
      return least;
    }
    const Workload* smallest = nullptr;
    for (const Workload& workload : family_.workloads) {
      const bool smaller =
          smallest == nullptr || element_count(family_, workload.axes) < element_count(family_, smallest->axes);
      if (smaller && takes(workload.axes)) {
        smallest = &workload;
      }
    }
    if (smallest == nullptr) {
      return std::nullopt;
    }
    Axes axes = smallest->axes;
    for (const AxisSpec& axis : family_.axes) {
      if (!axis.specialised) {
        shrink(axes, axis.name, least.at(axis.name));
      }
    }
    return axes;
  }

  // These sizes with one axis as large as the configuration takes it.
  Axes with_largest(Axes axes, const AxisSpec& axis) const {
    std::int64_t& value = axes.at(axis.name);
    const std::int64_t least = value;
    // Contracts ask for multiples: of the sizes round a number, one or the other is taken.
    const auto taken_near = [&](std::int64_t wanted) {
      for (const std::int64_t unit : {std::int64_t{1}, std::int64_t{16}, least, std::int64_t{256}}) {
        value = wanted / std::max<std::int64_t>(unit, 1) * std::max<std::int64_t>(unit, 1);
        if (value >= least && takes(axes)) {
          return value;
        }
      }
      return std::int64_t{-1};
    };
    std::int64_t largest = taken_near(axis.max);
    if (largest < 0) {
      const std::int64_t too_large =
          first_where(least, axis.max, [&](std::int64_t wanted) { return taken_near(wanted) < 0; });
      largest = std::max(least, taken_near(too_large - 1));
      constexpr std::int64_t kNear = 257;
      largest = first_where(largest, std::min(axis.max, largest + kNear),
                            [&](std::int64_t wanted) {
                              value = wanted;
                              return !takes(axes);
                            }) -
                1;
    }
    value = largest;
    return axes;
  }

  Grids grids(const Axes& axes) const { return runtime_.grids(configuration_, axes); }
  bool takes(const Axes& axes) const {
    return bytes_of(family_, axes) <= kMostBytes && check_axes(family_, axes).empty() &&
           runtime_.unsupported(configuration_, axes).empty();
  }

 private:
  // To the first value that is taken, of few: contracts ask for multiples of a vector, a warp or a block.
  void shrink(Axes& axes, const std::string& axis, std::int64_t least) const {
    constexpr std::int64_t kFew = 256;
    const std::int64_t end = std::min(axes.at(axis), least + kFew);
    Axes smaller = axes;
    for (std::int64_t value = least; value < end; ++value) {
      smaller.at(axis) = value;
      if (takes(smaller)) {
        axes = smaller;
        return;
      }
    }
  }

  const Runtime& runtime_;
  const Family& family_;
  const Configuration& configuration_;
};

bool launches_by_lines(const Runtime& runtime, const Configuration& configuration) {
  return runtime.grids && runtime.grids(configuration, runtime.family->workloads.front().axes).blocks > 0;
}

}  // namespace

std::optional<Failure> check_largest_launches(const Runtime& runtime, const Configuration& configuration) {
  const Sizes sizes(runtime, configuration);
  const std::optional<Axes> smallest = launches_by_lines(runtime, configuration) ? sizes.smallest() : std::nullopt;
  if (!smallest) {
    return std::nullopt;
  }
  const auto refusal = [&](const Axes& axes) -> std::optional<Failure> {
    const Grids grids = sizes.grids(axes);
    if (grids.refused.empty()) {
      return std::nullopt;
    }
    return Failure{.outcome = Outcome::refused,
                   .evidence = fmt::format(
                       "{} ({}, which its contract and its apo:requires allow){}", grids.refused, describe_axes(axes),
                       grids.condition.empty() ? ""
                                               : fmt::format("; write the line 'apo:requires {}', or a grid that "
                                                             "holds for them",
                                                             grids.condition))};
  };
  const double blocks = sizes.grids(*smallest).blocks;
  for (const AxisSpec& axis : runtime.family->axes) {
    const Axes largest = sizes.with_largest(*smallest, axis);
    if (auto failure = refusal(largest)) {
      return failure;
    }
    if (sizes.grids(largest).blocks == blocks) {
      continue;  // its grids do not depend on this axis
    }
    for (const AxisSpec& other : runtime.family->axes) {
      if (other.name != axis.name) {
        if (auto failure = refusal(sizes.with_largest(largest, other))) {
          return failure;
        }
      }
    }
  }
  return std::nullopt;
}

std::vector<ClippedGrid> clipped_grids(const Runtime& runtime, const Configuration& configuration,
                                       std::int64_t elements, std::uint64_t seed) {
  std::vector<ClippedGrid> clipped;
  const Sizes sizes(runtime, configuration);
  const std::optional<Axes> smallest = launches_by_lines(runtime, configuration) ? sizes.smallest() : std::nullopt;
  for (const AxisSpec& axis : runtime.family->axes) {
    if (!smallest || axis.specialised) {
      continue;
    }
    Axes axes = *smallest;
    std::int64_t& value = axes.at(axis.name);
    const std::int64_t least = value;
    const std::int64_t largest = sizes.with_largest(axes, axis).at(axis.name);
    const auto blocks_at = [&](std::int64_t wanted) {
      value = wanted;
      return sizes.grids(axes).blocks;
    };
    const double most = blocks_at(largest);
    if (!sizes.grids(axes).refused.empty() || blocks_at(least) == most) {
      continue;
    }
    const std::int64_t last = first_where(least, largest, [&](std::int64_t at) { return blocks_at(at) == most; });
    if (last > largest / 2) {
      continue;  // it grows to the end
    }
    // How many values of the axis a block more is for.
    const double before = blocks_at(last - 1);
    const std::int64_t step =
        blocks_at(least) == before
            ? last - least
            : last - first_where(least, last - 1, [&](std::int64_t at) { return blocks_at(at) == before; });
    constexpr std::int64_t kPart = 16;
    const std::int64_t above = last + step;
    const auto room = static_cast<std::uint64_t>(std::max(step, last / kPart));
    ClippedGrid grid{.axis = axis.name, .value = last};
    Random random(derive_seed(seed, "clipped " + axis.name));
    for (int draw = 0; draw < 64 && !grid.shape; ++draw) {
      value = std::min(largest, above + 1 + static_cast<std::int64_t>(random.below(room)));
      if (element_count(*runtime.family, axes) > elements) {
        break;
      }
      grid.shape = sizes.takes(axes) ? std::optional(axes) : std::nullopt;
    }
    clipped.push_back(std::move(grid));
  }
  return clipped;
}

}  // namespace apo
