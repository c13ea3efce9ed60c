// harness/research/search/random_search.cpp - one permutation of the space for each seed.
#include "harness/research/search/random_search.h"

#include <algorithm>
#include <numeric>

#include "kernels/random.h"

namespace apo {

std::vector<std::size_t> random_order(const SearchSpace& space, std::uint64_t seed) {
  std::vector<std::size_t> order(space.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(derive_seed(seed, "order of a space"));
  shuffle(order, random);
  return order;
}

std::vector<std::optional<double>> known_costs(const SearchSpace& space, const std::vector<Evaluated>& history) {
  std::vector<std::optional<double>> costs(space.size());
  for (const Evaluated& one : history) {
    costs.at(one.point) = one.cost;
  }
  return costs;
}

std::optional<std::size_t> RandomSearch::next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                              std::uint64_t seed) const {
  const std::vector<std::optional<double>> known = known_costs(space, history);
  const std::vector<std::size_t> order = random_order(space, seed);
  const auto found = std::ranges::find_if(order, [&](std::size_t point) { return !known[point]; });
  return found == order.end() ? std::nullopt : std::optional(*found);
}

}  // namespace apo
