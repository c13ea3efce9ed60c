// harness/research/search/greedy_search.h - walks to the first better neighbour; without one, starts elsewhere.
#pragma once

#include "harness/research/search/strategy.h"

namespace apo {

// Starts from random points; the neighbours of a point come in random order.
class GreedySearch : public SearchStrategy {
 public:
  std::string_view name() const override { return "greedy"; }
  std::optional<std::size_t> next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                  std::uint64_t seed) const override;
};

}  // namespace apo
