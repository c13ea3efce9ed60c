// harness/research/search/greedy_search.cpp - repeats the walk on the known costs, up to the first unknown one.
#include "harness/research/search/greedy_search.h"

#include "harness/research/search/random_search.h"
#include "kernels/random.h"

namespace apo {
namespace {

using Costs = std::vector<std::optional<double>>;

std::vector<std::size_t> shuffled_neighbours(const SearchSpace& space, std::size_t point, std::uint64_t seed) {
  std::vector<std::size_t> neighbours = space.neighbours(point);
  Random random(derive_seed(seed, "neighbours", point));
  shuffle(neighbours, random);
  return neighbours;
}

// Walks down from `point`, whose cost is known. Returns the first point whose cost it needs and does not know; nullopt
// at the end of the walk.
std::optional<std::size_t> walk(const SearchSpace& space, const Costs& known, std::size_t point, std::uint64_t seed) {
  for (bool moved = true; moved;) {
    moved = false;
    for (const std::size_t neighbour : shuffled_neighbours(space, point, seed)) {
      if (!known[neighbour]) {
        return neighbour;
      }
      if (*known[neighbour] < *known[point]) {
        point = neighbour;
        moved = true;
        break;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> GreedySearch::next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                              std::uint64_t seed) const {
  const Costs known = known_costs(space, history);
  // Every point is a start in the end, so that no part of the space is out of reach.
  for (const std::size_t start : random_order(space, seed)) {
    if (!known[start]) {
      return start;
    }
    if (const auto wanted = walk(space, known, start, seed)) {
      return wanted;
    }
  }
  return std::nullopt;
}

}  // namespace apo
