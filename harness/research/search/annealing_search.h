// harness/research/search/annealing_search.h - simulated annealing (Kirkpatrick, Gelatt & Vecchi 1983) with restarts.
#pragma once

#include "harness/research/search/strategy.h"

namespace apo {

// Goes to a random neighbour, always when it is better, else with the probability exp(-d / temperature) for a loss of d
// in logarithms. The temperature falls from one start to the next.
class AnnealingSearch : public SearchStrategy {
 public:
  std::string_view name() const override { return "annealing"; }
  std::optional<std::size_t> next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                  std::uint64_t seed) const override;
};

}  // namespace apo
