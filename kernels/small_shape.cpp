// kernels/small_shape.cpp - halves one axis after the other, or those together that a contract ties together.
#include "kernels/small_shape.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace apo {
namespace {

using Names = std::vector<std::string>;

// All sets of one to three of the names, the fewest first, and of as many those with the first names.
std::vector<Names> sets_of(const Names& names) {
  std::vector<Names> sets;
  for (std::size_t a = 0; a < names.size(); ++a) {
    sets.push_back({names[a]});
    for (std::size_t b = a + 1; b < names.size(); ++b) {
      sets.push_back({names[a], names[b]});
      for (std::size_t c = b + 1; c < names.size(); ++c) {
        sets.push_back({names[a], names[b], names[c]});
      }
    }
  }
  std::ranges::stable_sort(sets, {}, &Names::size);
  return sets;
}

std::optional<Axes> halved_once(const Family& family, const Axes& axes, const std::map<std::string, double>& weights) {
  Names names;
  for (const AxisSpec& axis : family.axes) {
    if (!axis.specialised && axes.at(axis.name) >= 4) {
      names.push_back(axis.name);
    }
  }
  std::ranges::stable_sort(names, std::greater(), [&](const std::string& name) {
    const auto weight = weights.find(name);
    return static_cast<double>(axes.at(name)) * (weight == weights.end() ? 1 : weight->second);
  });
  for (const Names& set : sets_of(names)) {
    Axes halved = axes;
    for (const std::string& name : set) {
      std::int64_t& value = halved.at(name);
      value = value / 2 | value % 2;
    }
    if (check_axes(family, halved).empty()) {
      return halved;
    }
  }
  return std::nullopt;
}

}  // namespace

Axes small_shape(const Family& family, Axes axes, std::int64_t most, const std::map<std::string, double>& weights) {
  while (element_count(family, axes) > most) {
    const std::optional<Axes> halved = halved_once(family, axes, weights);
    if (!halved) {
      break;
    }
    axes = *halved;
  }
  return axes;
}

Axes ragged_shape(const Family& family, Axes axes, const Axes& whole) {
  for (auto& [name, value] : axes) {
    if (value < whole.at(name) && value % 2 == 0) {
      --value;
      value += check_axes(family, axes).empty() ? 0 : 1;
    }
  }
  return axes;
}

}  // namespace apo
