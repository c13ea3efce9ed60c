// harness/research/search/model_search.cpp - expected improvement over the best (Mockus 1975; Jones et al. 1998).
#include "harness/research/search/model_search.h"

#include <cmath>
#include <numbers>

#include "harness/core/normal.h"
#include "harness/research/search/random_search.h"
#include "harness/research/search/space_model.h"

namespace apo {
namespace {

// How much less than `best` a cost will be, on average, where it counts as 0 when it is more.
double expected_improvement(const SpaceModel::Belief& belief, double best) {
  const double z = (best - belief.mean) / belief.sd;
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return belief.sd * (z * normal_probability(z) + density);
}

}  // namespace

std::optional<std::size_t> ModelSearch::next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                             std::uint64_t seed) const {
  const std::vector<std::optional<double>> known = known_costs(space, history);
  const std::vector<std::size_t> order = random_order(space, seed);  // of equals
  if (history.empty()) {
    return order.front();
  }
  const SpaceModel model(space, history);
  std::optional<std::size_t> chosen;
  double most = 0;
  for (const std::size_t point : order) {
    if (known[point]) {
      continue;
    }
    const double improvement = expected_improvement(model.at(point), model.best());
    if (!chosen || improvement > most) {
      chosen = point;
      most = improvement;
    }
  }
  return chosen;
}

}  // namespace apo
