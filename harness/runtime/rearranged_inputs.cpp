// harness/runtime/rearranged_inputs.cpp - copies runs of elements, or the elements of units, from random places.
#include "harness/runtime/rearranged_inputs.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/random.h"

namespace apo {
namespace {

using Bytes = std::vector<std::byte>;

std::size_t width_of(const TensorSpec& tensor) {
  return static_cast<std::size_t>(dtype_bytes(tensor.dtype));
}

// Short runs, each from a random place of a random set.
Bytes shuffled(const TensorSpec& tensor, const std::vector<CheckedPointer>& drawn, Random& random) {
  constexpr std::size_t kLongest = 64;  // elements
  constexpr std::size_t kFewest = 8;    // runs
  const std::size_t width = width_of(tensor);
  Bytes bytes(drawn.front()->inputs.bytes.at(tensor.name).size());
  const std::size_t count = bytes.size() / width;
  const std::size_t longest = std::clamp<std::size_t>(count / kFewest, 1, kLongest);
  std::vector<const std::byte*> from;
  for (const CheckedPointer& one : drawn) {
    from.push_back(one->inputs.bytes.at(tensor.name).data());
  }
  for (std::size_t at = 0; at < count; at += longest) {
    const std::size_t run = std::min(longest, count - at);
    const std::byte* const set = from[random.below(from.size())];
    std::memcpy(bytes.data() + at * width, set + random.below(count - run + 1) * width, run * width);
  }
  return bytes;
}

std::vector<const TensorSpec*> inputs_of(const Family& family) {
  std::vector<const TensorSpec*> inputs;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role != Role::output) {
      inputs.push_back(&tensor);
    }
  }
  return inputs;
}

// The elements of a unit in each input.
using UnitRuns = std::vector<std::vector<ElementRun>>;

UnitRuns runs_of(const Family& family, const Axes& axes, std::int64_t unit) {
  UnitRuns runs;
  for (const TensorSpec* tensor : inputs_of(family)) {
    runs.push_back(family.unit_elements(axes, tensor->name, unit));
  }
  return runs;
}

bool have_equal_lengths(const UnitRuns& one, const UnitRuns& other) {
  return std::ranges::equal(one, other, [](const auto& a, const auto& b) {
    return std::ranges::equal(a, b, {}, &ElementRun::count, &ElementRun::count);
  });
}

// Which inputs have no element that several units read: the others stay where they are.
std::vector<bool> moving_inputs(const Family& family, const Axes& axes) {
  const std::vector<const TensorSpec*> inputs = inputs_of(family);
  std::vector<std::int64_t> elements(inputs.size(), 0);
  for (std::int64_t unit = 0; unit < family.unit_count(axes); ++unit) {
    const UnitRuns runs = runs_of(family, axes, unit);
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      for (const ElementRun& run : runs[t]) {
        elements[t] += run.count;
      }
    }
  }
  std::vector<bool> moving;
  for (std::size_t t = 0; t < inputs.size(); ++t) {
    moving.push_back(elements[t] == element_count(*inputs[t], axes));
  }
  return moving;
}

// Each unit in the place of another one of its size, from any set: from the same one where units share an input.
void move_units(const Family& family, const std::vector<CheckedPointer>& drawn, Random& random, InputSet& inputs) {
  const std::vector<const TensorSpec*> tensors = inputs_of(family);
  const std::vector<bool> moving = moving_inputs(family, inputs.drawn_axes);
  const bool share = std::ranges::find(moving, false) != moving.end();
  const InputSet& home = drawn[random.below(drawn.size())]->inputs;
  inputs.bytes = home.bytes;
  std::vector<std::int64_t> order(static_cast<std::size_t>(family.unit_count(inputs.drawn_axes)));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  shuffle(order, random);
  for (std::size_t unit = 0; unit < order.size(); ++unit) {
    const InputSet& from = share ? home : drawn[random.below(drawn.size())]->inputs;
    const UnitRuns here = runs_of(family, inputs.drawn_axes, static_cast<std::int64_t>(unit));
    UnitRuns there = runs_of(family, inputs.drawn_axes, order[unit]);
    if (!have_equal_lengths(here, there)) {
      there = here;
    }
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const std::size_t width = width_of(*tensors[t]);
      for (std::size_t run = 0; moving[t] && run < here[t].size(); ++run) {
        std::memcpy(inputs.bytes[tensors[t]->name].data() + static_cast<std::size_t>(here[t][run].offset) * width,
                    from.bytes.at(tensors[t]->name).data() + static_cast<std::size_t>(there[t][run].offset) * width,
                    static_cast<std::size_t>(here[t][run].count) * width);
      }
    }
  }
}

}  // namespace

InputSet rearranged(const Family& family, const std::vector<CheckedPointer>& drawn, std::uint64_t seed) {
  const InputSet& like = drawn.front()->inputs;
  InputSet inputs{
      .axes = like.axes, .drawn_axes = like.drawn_axes, .seed = seed, .regime = like.regime, .values = {}, .bytes = {}};
  Random random(derive_seed(seed, "order"));
  if (family.redraw == Redraw::units) {
    move_units(family, drawn, random, inputs);
    return inputs;
  }
  for (const TensorSpec* tensor : inputs_of(family)) {
    inputs.bytes[tensor->name] = shuffled(*tensor, drawn, random);
  }
  return inputs;
}

bool derived_inputs_move(const Family& family, const std::vector<CheckedPointer>& drawn, int threads) {
  const InputSet moved = rearranged(family, drawn, derive_seed(drawn.front()->inputs.seed, "do they move"));
  TensorMap values;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::input) {
      values[tensor.name] = decode(tensor.dtype, moved.bytes.at(tensor.name), threads);
    }
  }
  return inputs_from(family, moved.drawn_axes, std::move(values), threads).bytes == moved.bytes;
}

}  // namespace apo
