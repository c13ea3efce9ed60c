// harness/evaluate/correctness/wrong_element.cpp - indices, names and the inputs at them.
#include "harness/evaluate/correctness/wrong_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <utility>

#include "harness/core/text.h"

namespace apo {
namespace {

// "B", "T" of "[B,T]". Empty where the text does not name each axis of the shape once: then none can be matched.
std::vector<std::string> named_axes(const TensorSpec& tensor, std::size_t rank) {
  std::string text = tensor.shape_text;
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
  std::vector<std::string> names = text.empty() ? std::vector<std::string>() : split(text, ',');
  const bool distinct = std::set(names.begin(), names.end()).size() == names.size();
  return names.size() == rank && distinct ? names : std::vector<std::string>();
}

double value_at(const TensorSpec& tensor, const InputSet& inputs, std::int64_t element) {
  const auto width = static_cast<std::size_t>(dtype_bytes(tensor.dtype));
  const std::span<const std::byte> bytes(inputs.bytes.at(tensor.name));
  return decode(tensor.dtype, bytes.subspan(static_cast<std::size_t>(element) * width, width)).front();
}

// Returns `input` at the same indices; nullopt if it has an axis that the element lacks, or its bytes were given up, as
// those of timed calls are.
std::optional<InputValue> input_at(const TensorSpec& input, const WrongElement& wrong, const InputSet& inputs) {
  const std::vector<std::int64_t> whole = input.shape(inputs.axes);
  const std::vector<std::int64_t> drawn = input.shape(inputs.drawn_axes);
  const std::vector<std::string> names = named_axes(input, whole.size());
  if (names.size() != whole.size() || !inputs.bytes.contains(input.name)) {
    return std::nullopt;
  }
  InputValue there{.tensor = input.name};
  std::int64_t element = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto axis = std::ranges::find(wrong.axes, names[i]);
    const std::int64_t at =
        axis == wrong.axes.end() ? whole[i] : wrong.index[static_cast<std::size_t>(axis - wrong.axes.begin())];
    if (at >= whole[i]) {
      return std::nullopt;
    }
    there.index.push_back(at);
    element = element * drawn[i] + at % drawn[i];  // entries that were not drawn repeat those that were
  }
  there.value = value_at(input, inputs, element);
  return there;
}

}  // namespace

std::vector<std::int64_t> indices_of(const TensorSpec& tensor, const Axes& axes, std::int64_t element) {
  std::vector<std::int64_t> indices = tensor.shape(axes);
  for (std::size_t i = indices.size(); i-- > 0;) {
    const std::int64_t extent = indices[i];
    indices[i] = element % extent;
    element /= extent;
  }
  return indices;
}

namespace {

bool is_number(const std::string& axis) {
  return std::ranges::all_of(axis, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

WrongElement wrong_element(const TensorSpec& tensor, const Axes& axes, std::int64_t element) {
  WrongElement wrong{.tensor = tensor.name, .index = indices_of(tensor, axes, element)};
  wrong.axes = named_axes(tensor, wrong.index.size());
  for (std::size_t i = wrong.axes.size(); i < wrong.index.size(); ++i) {
    wrong.axes.push_back(fmt::format("axis {}", i));
  }
  return wrong;
}

void add_inputs(WrongElement& wrong, const Family& family, const InputSet& inputs) {
  wrong.seed = inputs.seed;
  for (const TensorSpec& tensor : family.tensors) {
    if (tensor.role != Role::output) {
      if (auto there = input_at(tensor, wrong, inputs)) {
        wrong.inputs.push_back(std::move(*there));
      }
    }
  }
}

std::string sentence(const WrongElement& wrong) {
  std::vector<std::string> place;
  for (std::size_t i = 0; i < wrong.index.size(); ++i) {
    if (!is_number(wrong.axes[i])) {  // an extent without a name, mostly 1
      place.push_back(fmt::format("{}={}", wrong.axes[i], wrong.index[i]));
    }
  }
  std::vector<std::string> values;
  for (const InputValue& input : wrong.inputs) {
    values.push_back(fmt::format("{} = {}", input.tensor, format_element(input.value)));
  }
  return fmt::format("{}its bound is {}{}{}", place.empty() ? "" : "at " + join(place, " ") + " ",
                     format_g(wrong.bound, 3), values.empty() ? "" : "; inputs there: " + join(values, ", "),
                     wrong.seed == 0 ? "" : fmt::format("; drawn from seed {}", wrong.seed));
}

}  // namespace apo
