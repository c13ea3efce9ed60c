// harness/evaluate/correctness/large_case.cpp - looks for an axis along which inputs may repeat.
#include "harness/evaluate/correctness/large_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/core/system/machine.h"
#include "harness/runtime/tensor_data.h"
#include "kernels/random.h"

namespace apo {
namespace {

// Whether each unit of the whole has the outputs of the one that it repeats, to the bit.
bool units_repeat(const Family& family, const Axes& whole, const Axes& drawn, const TensorMap& of_whole,
                  const TensorMap& of_drawn) {
  const std::int64_t units = family.unit_count(whole);
  const std::int64_t drawn_units = family.unit_count(drawn);
  for (const TensorSpec& tensor : family.tensors) {
    for (std::int64_t unit = 0; tensor.role == Role::output && unit < units; ++unit) {
      const std::vector<ElementRun> runs = family.unit_elements(whole, tensor.name, unit);
      const std::vector<ElementRun> others = family.unit_elements(drawn, tensor.name, unit % drawn_units);
      const std::vector<double>& values = of_whole.at(tensor.name);
      const std::vector<double>& known = of_drawn.at(tensor.name);
      const bool same = std::ranges::equal(runs, others, [&](const ElementRun& run, const ElementRun& other) {
        return run.count == other.count &&
               std::equal(values.begin() + run.offset, values.begin() + run.offset + run.count,
                          known.begin() + other.offset);
      });
      if (!same) {
        return false;
      }
    }
  }
  return true;
}

// Whether the first `distinct` entries along the axis, a multiple of three, stand for all: tried on seven thirds of
// them.
bool can_repeat(const Family& family, const Axes& axes, const std::string& axis, std::int64_t distinct) {
  Workload some{.name = "repeated", .axes = axes, .repeated_axis = axis, .distinct = distinct};
  some.axes.at(axis) = 2 * distinct + distinct / 3;
  Axes drawn = axes;
  drawn.at(axis) = distinct;
  if (!check_axes(family, some.axes).empty() || !check_axes(family, drawn).empty()) {
    return false;
  }
  constexpr std::uint64_t kSeed = 1;
  const InputSet repeated = make_inputs(family, some, kSeed, family.regimes.front(), 1);
  TensorMap values;
  for (const auto& [name, bytes] : whole_bytes(family, repeated)) {
    const TensorSpec& tensor = *find_tensor(family, name);
    values[name] = decode(tensor.dtype, bytes);
    if (std::ssize(values[name]) != element_count(tensor, some.axes)) {
      return false;  // an extent that depends on the axis in another way
    }
  }
  return units_repeat(family, some.axes, drawn, family.reference(some.axes, values, {}, 1),
                      family.reference(drawn, repeated.values, {}, 1));
}

bool has_room(const Runtime& runtime, const Configuration& configuration, const Axes& axes) {
  constexpr std::int64_t kPart = 3;
  std::int64_t bytes = tensor_bytes(*runtime.family, axes);
  for (const std::int64_t scratch : runtime.scratch(configuration, axes)) {
    bytes += scratch;
  }
  return bytes <= physical_memory_bytes() / kPart && (runtime.device_bytes == 0 || bytes <= runtime.device_bytes / 2);
}

// The largest tensor.
std::int64_t most_elements(const Family& family, const Axes& axes, bool in_bytes) {
  std::int64_t most = 0;
  for (const TensorSpec& tensor : family.tensors) {
    most = std::max(most, element_count(tensor, axes) * (in_bytes ? dtype_bytes(tensor.dtype) : 1));
  }
  return most;
}

class LargeCases {
 public:
  LargeCases(const Runtime& runtime, const Configuration& configuration, std::uint64_t seed)
      : runtime_(runtime), family_(*runtime.family), configuration_(configuration), seed_(seed) {}

  std::optional<CheckCase> along(const AxisSpec& axis, const Axes& base, std::int64_t least, bool in_bytes) const {
    constexpr std::int64_t kUnit =
        4096;  // elements of one unit, where a family names no axis along which it falls apart
    for (const std::int64_t unit : {std::int64_t{1}, kUnit}) {
      const std::int64_t distinct = 3 * unit;  // no power of two: a place that wraps meets other values
      const std::optional<Axes> axes = sizes(axis, base, least, in_bytes, unit);
      if (axes && has_room(runtime_, configuration_, *axes) &&
          can_repeat(family_, smallest_axes(), axis.name, distinct)) {
        CheckCase one{
            .workload = fmt::format("more than 2^31 {} {}", in_bytes ? "bytes" : "elements", describe_axes(*axes)),
            .axes = *axes,
            .regimes = {family_.regimes.front()},
            .repeated_axis = axis.name,
            .distinct = distinct};
        one.repeats_on_device = runtime_.worker.target == Target::cuda && can_repeat_on_device(one);
        return one;
      }
    }
    return std::nullopt;
  }

 private:
  // A GPU copies and compares each of the outer parts of a tensor by itself.
  bool can_repeat_on_device(CheckCase one) const {
    constexpr std::int64_t kMostParts = 1024;
    one.repeats_on_device = true;
    const Axes drawn = one.held_axes();
    return check_axes(family_, drawn).empty() && std::ranges::all_of(family_.tensors, [&](const TensorSpec& tensor) {
             const Repeats repeats = repeats_of(tensor, drawn, one.axes);
             return repeats.outer <= kMostParts &&
                    repeats.whole(element_count(tensor, drawn)) == element_count(tensor, one.axes);
           });
  }

  // The base with this axis so long that the largest tensor has more than `least`, a multiple of `unit`.
  std::optional<Axes> sizes(const AxisSpec& axis, const Axes& base, std::int64_t least, bool in_bytes,
                            std::int64_t unit) const {
    Axes axes = base;
    std::int64_t& value = axes.at(axis.name);
    value = std::max<std::int64_t>(1, value);
    const std::int64_t before = most_elements(family_, axes, in_bytes);
    const std::int64_t of_one = before / value;
    if (of_one == 0 || before > least) {
      return std::nullopt;
    }
    const std::int64_t needed = least / of_one + 1;
    Random random(seed_);
    for (const std::int64_t multiple : {1, 2, 16, 256}) {  // which contracts ask for
      const std::int64_t step = std::max(unit, multiple);
      value = (needed / step + 1 + static_cast<std::int64_t>(random.below(64))) * step;
      if (value <= axis.max && check_axes(family_, axes).empty() && most_elements(family_, axes, in_bytes) > least &&
          runtime_.unsupported(configuration_, axes).empty()) {
        return axes;
      }
    }
    return std::nullopt;
  }

  const Axes& smallest_axes() const {
    return std::ranges::min_element(family_.workloads, {},
                                    [&](const Workload& workload) { return element_count(family_, workload.axes); })
        ->axes;
  }

  const Runtime& runtime_;
  const Family& family_;
  const Configuration& configuration_;
  std::uint64_t seed_;
};

}  // namespace

std::optional<CheckCase> large_case(const Runtime& runtime, const Configuration& configuration, std::uint64_t seed,
                                    std::int64_t elements) {
  const LargeCases cases(runtime, configuration, derive_seed(seed, "large"));
  for (const bool in_bytes : {false, true}) {
    for (const Workload& workload : runtime.family->workloads) {
      for (const AxisSpec& axis : runtime.family->axes) {
        if (axis.specialised || !runtime.unsupported(configuration, workload.axes).empty()) {
          continue;
        }
        if (auto one = cases.along(axis, workload.axes, elements, in_bytes)) {
          return one;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace apo
