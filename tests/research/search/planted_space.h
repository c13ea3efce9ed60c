// tests/research/search/planted_space.h - spaces of which the best configuration is known.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/research/search/replayed_search.h"

namespace apo {

// All configurations of so many levels each that `is_legal` allows, with the costs of `cost_of`.
inline RecordedSpace planted_space(const std::vector<std::size_t>& levels,
                                   const std::function<double(const Levels&)>& cost_of,
                                   const std::function<bool(const Levels&)>& is_legal = nullptr) {
  std::vector<SearchParameter> parameters;
  std::size_t all = 1;
  for (const std::size_t count : levels) {
    parameters.push_back({.name = "P" + std::to_string(parameters.size()), .levels = count});
    all *= count;
  }
  std::vector<Levels> legal;
  std::vector<double> costs;
  for (std::size_t number = 0; number < all; ++number) {
    Levels point;
    std::size_t rest = number;
    for (const std::size_t count : levels) {
      point.push_back(rest % count);
      rest /= count;
    }
    if (!is_legal || is_legal(point)) {
      legal.push_back(point);
      costs.push_back(cost_of(point));
    }
  }
  return {.space = SearchSpace(std::move(parameters), std::move(legal)), .costs = std::move(costs)};
}

}  // namespace apo
