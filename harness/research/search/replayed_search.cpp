// harness/research/search/replayed_search.cpp - asks the strategy again and again, and answers from the record.
#include "harness/research/search/replayed_search.h"

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"

namespace apo {
namespace {

double good_cost(const RecordedSpace& recorded) {
  const double best = *std::ranges::min_element(recorded.costs);
  if (!std::isfinite(best)) {
    throw UserError("the space has no valid configuration: nothing can be found in it", "record another one");
  }
  return best + std::log(kGoodEnough);
}

// By linear interpolation between the order statistics; `sorted` has one entry at least.
double quantile(const std::vector<std::size_t>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double between = place - static_cast<double>(below);
  return (1 - between) * static_cast<double>(sorted[below]) + between * static_cast<double>(sorted[above]);
}

}  // namespace

std::size_t evaluations_until_good(const RecordedSpace& recorded, const SearchStrategy& strategy, std::uint64_t seed) {
  const double good = good_cost(recorded);
  std::vector<Evaluated> history;
  while (const auto point = strategy.next(recorded.space, history, seed)) {
    history.push_back({.point = *point, .cost = recorded.costs[*point]});
    if (history.back().cost <= good) {
      break;
    }
  }
  return history.size();
}

SearchScore score_search(const RecordedSpace& recorded, const SearchStrategy& strategy, int seeds) {
  std::vector<std::size_t> counts;
  for (int seed = 1; seed <= seeds; ++seed) {
    counts.push_back(evaluations_until_good(recorded, strategy, static_cast<std::uint64_t>(seed)));
  }
  std::ranges::sort(counts);
  return {.lower_quartile = quantile(counts, 0.25),
          .median = quantile(counts, 0.5),
          .upper_quartile = quantile(counts, 0.75)};
}

std::size_t count_good(const RecordedSpace& recorded) {
  const double good = good_cost(recorded);
  return static_cast<std::size_t>(std::ranges::count_if(recorded.costs, [&](double cost) { return cost <= good; }));
}

}  // namespace apo
