// harness/research/search/random_search.h - evaluates the configurations in random order: what others have to beat.
#pragma once

#include "harness/research/search/strategy.h"

namespace apo {

class RandomSearch : public SearchStrategy {
 public:
  std::string_view name() const override { return "random"; }
  std::optional<std::size_t> next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                  std::uint64_t seed) const override;
};

// All points of the space in the order of the seed.
std::vector<std::size_t> random_order(const SearchSpace& space, std::uint64_t seed);

// The cost of each point that was evaluated, the last one of a point that was evaluated twice.
std::vector<std::optional<double>> known_costs(const SearchSpace& space, const std::vector<Evaluated>& history);

}  // namespace apo
