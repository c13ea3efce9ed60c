// harness/research/search/annealing_search.cpp - repeats the walk on the known costs, up to the first unknown one.
#include "harness/research/search/annealing_search.h"

#include <cmath>

#include "harness/research/search/random_search.h"
#include "kernels/random.h"

namespace apo {
namespace {

// In logarithms of time: at first a neighbour that is a third slower is taken often, in the end one of a hundredth
// seldom.
constexpr double kFirstTemperature = 0.3;
constexpr double kLastTemperature = 0.003;
constexpr std::size_t kStepsOfAWalk = 200;

using Costs = std::vector<std::optional<double>>;

// As in greedy_search.cpp, with a temperature.
std::optional<std::size_t> annealed_walk(const SearchSpace& space, const Costs& known, std::size_t point,
                                         Random& random) {
  for (std::size_t step = 0; step < kStepsOfAWalk; ++step) {
    const std::vector<std::size_t>& neighbours = space.neighbours(point);
    if (neighbours.empty()) {
      return std::nullopt;
    }
    const std::size_t neighbour = neighbours[random.below(neighbours.size())];
    if (!known[neighbour]) {
      return neighbour;
    }
    const double cooled = static_cast<double>(step) / kStepsOfAWalk;
    const double temperature = kFirstTemperature * std::pow(kLastTemperature / kFirstTemperature, cooled);
    const double draw = random.uniform();
    // Both may be invalid, with infinite costs: then it walks on.
    if (*known[neighbour] <= *known[point] || draw < std::exp((*known[point] - *known[neighbour]) / temperature)) {
      point = neighbour;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> AnnealingSearch::next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                                 std::uint64_t seed) const {
  const Costs known = known_costs(space, history);
  for (const std::size_t start : random_order(space, seed)) {
    if (!known[start]) {
      return start;
    }
    Random random(derive_seed(seed, "annealing", start));
    if (const auto wanted = annealed_walk(space, known, start, random)) {
      return wanted;
    }
  }
  return std::nullopt;
}

}  // namespace apo
