// harness/evaluate/data.cpp - rounding inputs to their storage dtype before anybody computes with them.
#include "harness/evaluate/data.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "harness/core/error.h"
#include "kernels/random.h"
#include "kernels/rounding.h"

namespace apo {
namespace {

template <class Stored, class Convert>
std::vector<std::byte> encode_as(const std::vector<double>& values, Convert convert) {
  std::vector<std::byte> bytes(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored stored = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof stored);
  }
  return bytes;
}

template <class Stored, class Convert>
std::vector<double> decode_as(const std::vector<std::byte>& bytes, Convert convert) {
  std::vector<double> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof stored);
    values[i] = convert(stored);
  }
  return values;
}

void store(InputSet& inputs, const TensorSpec& tensor, const std::vector<double>& values) {
  std::vector<std::byte> bytes = encode(tensor.dtype, values);
  inputs.values[tensor.name] = decode(tensor.dtype, bytes);
  inputs.bytes[tensor.name] = std::move(bytes);
}

void derive_missing(const Family& family, InputSet& inputs, int threads) {
  const bool complete = std::all_of(family.tensors.begin(), family.tensors.end(), [&](const TensorSpec& tensor) {
    return tensor.role != Role::derived_input || inputs.values.contains(tensor.name);
  });
  if (complete) {
    return;
  }
  const TensorMap derived = family.derive(inputs.axes, inputs.values, threads);
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::derived_input && !inputs.values.contains(tensor.name)) {
      store(inputs, tensor, derived.at(tensor.name));
    }
  }
}

}  // namespace

std::vector<std::byte> encode(DType dtype, const std::vector<double>& values) {
  switch (dtype) {
    case DType::bf16:
      return encode_as<std::uint16_t>(values, double_to_bf16);
    case DType::f32:
      return encode_as<float>(values, [](double value) { return static_cast<float>(value); });
    case DType::f64:
      return encode_as<double>(values, [](double value) { return value; });
  }
  return {};
}

std::vector<double> decode(DType dtype, const std::vector<std::byte>& bytes) {
  switch (dtype) {
    case DType::bf16:
      return decode_as<std::uint16_t>(bytes,
                                      [](std::uint16_t bits) { return static_cast<double>(bf16_to_float(bits)); });
    case DType::f32:
      return decode_as<float>(bytes, [](float value) { return static_cast<double>(value); });
    case DType::f64:
      return decode_as<double>(bytes, [](double value) { return value; });
  }
  return {};
}

InputSet make_inputs(const Family& family, const Axes& axes, std::uint64_t seed, const std::string& regime,
                     int threads) {
  InputSet inputs{.axes = axes, .seed = seed, .regime = regime, .values = {}, .bytes = {}};
  const TensorMap raw = family.fill(axes, seed, regime, threads);
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role == Role::input) {
      store(inputs, tensor, raw.at(tensor.name));
    }
  }
  derive_missing(family, inputs, threads);
  return inputs;
}

InputSet inputs_from(const Family& family, const Axes& axes, TensorMap values, int threads) {
  InputSet inputs{.axes = axes, .seed = 0, .regime = "given", .values = {}, .bytes = {}};
  for (const TensorSpec& tensor : family.tensors) {
    const auto given = values.find(tensor.name);
    if (tensor.role == Role::output || (given == values.end() && tensor.role == Role::derived_input)) {
      continue;
    }
    const auto needed = static_cast<std::size_t>(element_count(tensor, axes));
    if (given == values.end() || given->second.size() != needed) {
      throw UserError(
          "input '" + tensor.name + "' needs " + std::to_string(needed) + " elements of shape " + tensor.shape_text +
          ", " + (given == values.end() ? "none were given" : std::to_string(given->second.size()) + " were given"));
    }
    store(inputs, tensor, given->second);
  }
  derive_missing(family, inputs, threads);
  return inputs;
}

Expected expect(const Family& family, const InputSet& inputs, const std::vector<std::int64_t>& units, int threads) {
  TensorMap reference = family.reference(inputs.axes, inputs.values, units, threads);
  TensorMap noise = family.noise(inputs.axes, inputs.values, reference, units, threads);
  return {.units = units, .reference = std::move(reference), .noise = std::move(noise)};
}

std::vector<std::int64_t> draw_units(std::int64_t count, std::int64_t most, std::uint64_t seed) {
  if (count <= most) {
    return {};
  }
  std::set<std::int64_t> drawn = {0, count - 1};
  Random random(derive_seed(seed, "units"));
  while (static_cast<std::int64_t>(drawn.size()) < most) {
    drawn.insert(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count))));
  }
  return {drawn.begin(), drawn.end()};
}

}  // namespace apo
