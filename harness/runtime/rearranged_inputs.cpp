// harness/runtime/rearranged_inputs.cpp - chooses runs of elements, or the elements of units, from random places.
#include "harness/runtime/rearranged_inputs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/random.h"

namespace apo {
namespace {

std::span<const std::byte> part_of(const InputSet& inputs, const TensorSpec& tensor, std::int64_t offset,
                                   std::int64_t count) {
  const std::int64_t width = dtype_bytes(tensor.dtype);
  return std::span(inputs.bytes.at(tensor.name))
      .subspan(static_cast<std::size_t>(offset * width), static_cast<std::size_t>(count * width));
}

// Short runs, each from a random place of a random set.
ByteRuns shuffled(const TensorSpec& tensor, const std::vector<CheckedPointer>& drawn, Random& random) {
  constexpr std::int64_t kLongest = 1024;  // elements: a copy of shorter ones waits for each
  constexpr std::int64_t kFewest = 8;      // runs
  const auto width = static_cast<std::size_t>(dtype_bytes(tensor.dtype));
  std::vector<std::span<const std::byte>> from;
  for (const CheckedPointer& one : drawn) {
    from.emplace_back(one->inputs.bytes.at(tensor.name));
  }
  const auto count = static_cast<std::int64_t>(from.front().size() / width);
  const std::int64_t longest = std::clamp<std::int64_t>(count / kFewest, 1, kLongest);
  ByteRuns runs;
  runs.reserve(static_cast<std::size_t>(count / longest + 1));
  for (std::int64_t at = 0; at < count; at += longest) {
    const std::int64_t run = std::min(longest, count - at);
    const std::span<const std::byte> set = from[random.below(from.size())];
    const std::size_t begin = random.below(static_cast<std::uint64_t>(count - run + 1));
    runs.push_back(set.subspan(begin * width, static_cast<std::size_t>(run) * width));
  }
  return runs;
}

// Each unit in the place of another one of its size, from any set: from the same one where units share an input.
std::map<std::string, ByteRuns, std::less<>> moved_units(const std::vector<CheckedPointer>& drawn,
                                                         const UnitPlaces& places, Random& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(places.units()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  shuffle(order, random);
  const bool all_move = places.all_move();
  const InputSet& home = drawn[random.below(drawn.size())]->inputs;
  std::vector<const InputSet*> sets;
  for (std::size_t unit = 0; unit < order.size(); ++unit) {
    const auto here = static_cast<std::int64_t>(unit);
    order[unit] = places.are_alike(here, order[unit]) ? order[unit] : here;
    sets.push_back(all_move ? &drawn[random.below(drawn.size())]->inputs : &home);
  }
  std::map<std::string, ByteRuns, std::less<>> moved;
  for (const UnitPlaces::Input& input : places.inputs()) {
    ByteRuns& runs = moved[input.tensor->name];
    if (!input.moves) {
      runs.emplace_back(home.bytes.at(input.tensor->name));
      continue;
    }
    runs.reserve(input.runs.size());
    for (const UnitPlaces::Run& run : input.runs) {
      const auto unit = static_cast<std::size_t>(run.unit);
      const ElementRun& from = input.of_unit[static_cast<std::size_t>(order[unit])][run.number];
      runs.push_back(part_of(*sets[unit], *input.tensor, from.offset, from.count));
    }
  }
  return moved;
}

// Runs that are shorter than what names them, and inputs that repeat, are put together at once.
bool is_copied(const InputSet& inputs, const ByteRuns& runs, std::int64_t bytes) {
  constexpr std::int64_t kShort = 32;  // bytes
  return inputs.axes != inputs.drawn_axes || bytes < kShort * std::ssize(runs);
}

}  // namespace

UnitPlaces::UnitPlaces(const Family& family, const Axes& drawn_axes) : units_(family.unit_count(drawn_axes)) {
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::output) {
      continue;
    }
    Input input{.tensor = &tensor};
    std::int64_t elements = 0;
    for (std::int64_t unit = 0; unit < units_; ++unit) {
      input.of_unit.push_back(family.unit_elements(drawn_axes, tensor.name, unit));
      for (const ElementRun& run : input.of_unit.back()) {
        const auto number = static_cast<std::size_t>(&run - input.of_unit.back().data());
        input.runs.push_back({.offset = run.offset, .count = run.count, .unit = unit, .number = number});
        elements += run.count;
      }
    }
    input.moves = elements == element_count(tensor, drawn_axes);
    if (input.moves) {
      std::ranges::sort(input.runs, {}, &Run::offset);
    } else {
      input.runs.clear();
    }
    inputs_.push_back(std::move(input));
  }
}

bool UnitPlaces::all_move() const {
  return std::ranges::all_of(inputs_, &Input::moves);
}

bool UnitPlaces::are_alike(std::int64_t unit, std::int64_t other) const {
  return std::ranges::all_of(inputs_, [&](const Input& input) {
    return std::ranges::equal(input.of_unit[static_cast<std::size_t>(unit)],
                              input.of_unit[static_cast<std::size_t>(other)], {}, &ElementRun::count,
                              &ElementRun::count);
  });
}

InputSet rearranged(const Family& family, const DrawnSets& drawn, const UnitPlaces* places, std::uint64_t seed) {
  const InputSet& like = drawn->front()->inputs;
  InputSet inputs{
      .axes = like.axes, .drawn_axes = like.drawn_axes, .seed = seed, .regime = like.regime, .values = {}, .bytes = {}};
  Random random(derive_seed(seed, "order"));
  if (places != nullptr) {
    inputs.runs = moved_units(*drawn, *places, random);
  } else {
    for (const TensorSpec& tensor : family.tensors) {
      if (tensor.role != Role::output) {
        inputs.runs[tensor.name] = shuffled(tensor, *drawn, random);
      }
    }
  }
  inputs.owner = drawn;
  std::erase_if(inputs.runs, [&](const auto& input) {
    const auto& [name, runs] = input;
    if (!is_copied(inputs, runs, std::ssize(like.bytes.at(name)))) {
      return false;
    }
    inputs.bytes[name] = gathered(runs);
    return true;
  });
  return inputs;
}

bool derived_inputs_move(const Family& family, const DrawnSets& drawn, const UnitPlaces& places, int threads) {
  const InputSet moved = rearranged(family, drawn, &places, derive_seed(drawn->front()->inputs.seed, "do they move"));
  TensorMap values;
  TensorBytes all = moved.bytes;
  for (const auto& [name, runs] : moved.runs) {
    all[name] = gathered(runs);
  }
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::input) {
      values[tensor.name] = decode(tensor.dtype, all.at(tensor.name), threads);
    }
  }
  return inputs_from(family, moved.drawn_axes, std::move(values), threads).bytes == all;
}

}  // namespace apo
