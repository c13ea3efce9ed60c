// tests/research/search/replayed_search_test.cpp - evaluations until a configuration is within 5 % of the best.
#include "harness/research/search/replayed_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/core/error.h"
#include "harness/research/search/strategies.h"
#include "tests/research/search/planted_space.h"

namespace apo {
namespace {

// In the order of their numbers.
class InOrder : public SearchStrategy {
 public:
  std::string_view name() const override { return "in order"; }
  std::optional<std::size_t> next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                  std::uint64_t) const override {
    return history.size() < space.size() ? std::optional(history.size()) : std::nullopt;
  }
};

RecordedSpace of_costs(const std::vector<double>& costs) {
  return planted_space({costs.size()}, [&](const Levels& point) { return costs[point[0]]; });
}

TEST(ReplayedSearch, CountsUntilWithinFivePercentOfTheBest) {
  const RecordedSpace recorded = of_costs({std::log(2.0), std::log(1.06), std::log(1.04), std::log(1.0)});
  EXPECT_EQ(evaluations_until_good(recorded, InOrder(), 1), 3U);
  EXPECT_EQ(count_good(recorded), 2U);
}

TEST(ReplayedSearch, CountsInvalidConfigurationsAsEvaluations) {
  const double invalid = std::numeric_limits<double>::infinity();
  EXPECT_EQ(evaluations_until_good(of_costs({invalid, invalid, 0}), InOrder(), 1), 3U);
}

TEST(ReplayedSearch, ASpaceWithoutAValidConfigurationIsAnError) {
  const double invalid = std::numeric_limits<double>::infinity();
  EXPECT_THROW(score_search(of_costs({invalid, invalid}), InOrder(), 3), UserError);
}

// Without replacement, the first of m good ones of n comes after (n + 1) / (m + 1) on average.
TEST(ReplayedSearch, RandomNeedsWhatCountingSays) {
  const RecordedSpace recorded = planted_space(
      {200}, [](const Levels& point) { return point[0] < 4 ? 0.0 : 1.0 + 0.01 * static_cast<double>(point[0]); });
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    sum += static_cast<double>(evaluations_until_good(recorded, search_strategy("random"), seed));
  }
  EXPECT_NEAR(sum / 400, 201.0 / 5, 4);
}

TEST(ReplayedSearch, QuartilesAreOfTheSeeds) {
  const SearchScore score = score_search(of_costs({1, 0}), InOrder(), 10);
  EXPECT_EQ(score.lower_quartile, 2);
  EXPECT_EQ(score.median, 2);
  EXPECT_EQ(score.upper_quartile, 2);
}

}  // namespace
}  // namespace apo
