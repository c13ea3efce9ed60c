// tests/research/search/strategies_test.cpp - what holds of every strategy, and what one is better at than another.
#include "harness/research/search/strategies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "harness/core/error.h"
#include "kernels/random.h"
#include "tests/research/search/planted_space.h"

namespace apo {
namespace {

const std::vector<std::size_t> kManyToggles = {2, 2, 2, 2, 2, 2, 3, 3};

// Six toggles and two tunables with an effect each; nothing depends on anything.
RecordedSpace additive_space() {
  return planted_space(kManyToggles, [](const Levels& point) {
    const std::vector<double> effects = {0.3, -0.2, 0.15, -0.1, 0.02, -0.25, 0.1, -0.12};
    double cost = 0;
    for (std::size_t p = 0; p < point.size(); ++p) {
      cost += effects[p] * static_cast<double>(point[p]);
    }
    return cost;
  });
}

// Two toggles that cost alone and help together, a tunable that is legal with the first alone, and a little noise.
RecordedSpace paired_space() {
  return planted_space(
      {2, 2, 2, 2, 2, 4},
      [](const Levels& point) {
        Random noise(derive_seed(
            7, "planted", point[0] + 2 * point[1] + 4 * point[2] + 8 * point[3] + 16 * point[4] + 32 * point[5]));
        const double together = point[0] == 1 && point[1] == 1 ? -0.6 : 0;
        return 0.1 * static_cast<double>(point[0] + point[1]) + together -
               0.1 * static_cast<double>(point[2] + point[3] + point[4]) +
               0.05 * std::fabs(static_cast<double>(point[5]) - 2) + 0.01 * noise.normal();
      },
      [](const Levels& point) { return point[0] == 1 || point[5] == 0; });
}

std::size_t best_of(const RecordedSpace& recorded) {
  return static_cast<std::size_t>(std::ranges::min_element(recorded.costs) - recorded.costs.begin());
}

// The first points that the strategy wants, or all.
std::vector<std::size_t> searched(const RecordedSpace& recorded, const SearchStrategy& strategy, std::uint64_t seed,
                                  std::size_t most = 1000) {
  std::vector<Evaluated> history;
  std::vector<std::size_t> points;
  while (const auto point = points.size() < most ? strategy.next(recorded.space, history, seed) : std::nullopt) {
    history.push_back({.point = *point, .cost = recorded.costs[*point]});
    points.push_back(*point);
  }
  return points;
}

class Strategies : public ::testing::TestWithParam<const SearchStrategy*> {};

TEST_P(Strategies, EvaluateEveryConfigurationOnceAndThenNone) {
  const RecordedSpace recorded =
      planted_space({2, 2, 3, 2}, [](const Levels& point) { return 0.1 * static_cast<double>(point[0] + point[2]); });
  const std::vector<std::size_t> points = searched(recorded, *GetParam(), 3);
  EXPECT_EQ(points.size(), recorded.space.size());
  EXPECT_EQ(std::set<std::size_t>(points.begin(), points.end()).size(), points.size());
}

TEST_P(Strategies, FindThePlantedBestInHalfOfTheSpaceAtMost) {
  for (const RecordedSpace& recorded : {additive_space(), paired_space()}) {
    if (GetParam()->name() == "random") {
      continue;  // half of the time it does not
    }
    std::vector<Evaluated> history;
    bool found = false;
    while (!found && history.size() < recorded.space.size() / 2) {
      const std::size_t point = GetParam()->next(recorded.space, history, 11).value();
      history.push_back({.point = point, .cost = recorded.costs[point]});
      found = point == best_of(recorded);
    }
    EXPECT_TRUE(found);
  }
}

TEST_P(Strategies, ChooseTheSameForOneSeedAndHistory) {
  const RecordedSpace recorded = paired_space();
  EXPECT_EQ(searched(recorded, *GetParam(), 5, 12), searched(recorded, *GetParam(), 5, 12));
  EXPECT_NE(searched(recorded, *GetParam(), 5, 12), searched(recorded, *GetParam(), 6, 12));
}

TEST_P(Strategies, GoOnFromWhatAnotherStrategySaw) {
  const RecordedSpace recorded = additive_space();
  std::vector<Evaluated> history;
  for (std::size_t point = 0; point < 40; ++point) {
    history.push_back({.point = point, .cost = recorded.costs[point]});
  }
  const std::size_t next = GetParam()->next(recorded.space, history, 1).value();
  EXPECT_GE(next, 40U);
}

TEST_P(Strategies, PassOverInvalidConfigurations) {
  const RecordedSpace recorded = planted_space(kManyToggles, [](const Levels& point) {
    return point[0] == 1 || point[6] == 2 ? std::numeric_limits<double>::infinity()
                                          : -0.2 * static_cast<double>(point[1] + point[2]);
  });
  EXPECT_LT(evaluations_until_good(recorded, *GetParam(), 2), recorded.space.size() / 2);
}

TEST_P(Strategies, KnowWhatToDoWhereEverythingIsInvalidOrEqual) {
  for (const double cost : {0.0, std::numeric_limits<double>::infinity()}) {
    const RecordedSpace recorded = planted_space({2, 3}, [&](const Levels&) { return cost; });
    EXPECT_EQ(searched(recorded, *GetParam(), 4).size(), 6U);
  }
}

TEST_P(Strategies, TakeTheOnlyConfigurationOfASpaceOfOne) {
  const RecordedSpace recorded = planted_space({1}, [](const Levels&) { return 0.0; });
  EXPECT_EQ(searched(recorded, *GetParam(), 4), std::vector<std::size_t>{0});
}

INSTANTIATE_TEST_SUITE_P(All, Strategies, ::testing::ValuesIn(search_strategies()),
                         [](const auto& strategy) { return std::string(strategy.param->name()); });

double median_evaluations(const RecordedSpace& recorded, const std::string& strategy) {
  return score_search(recorded, search_strategy(strategy), 15).median;
}

TEST(ModelSearch, NeedsFarFewerEvaluationsThanRandomWhereEffectsAddUp) {
  const RecordedSpace recorded = additive_space();
  EXPECT_LT(median_evaluations(recorded, "model"), 0.3 * median_evaluations(recorded, "random"));
  EXPECT_LT(median_evaluations(recorded, "model"), median_evaluations(recorded, "greedy"));
}

TEST(ModelSearch, FindsWhatHelpsOnlyTogether) {
  const RecordedSpace recorded = paired_space();
  EXPECT_LT(median_evaluations(recorded, "model"), 0.5 * median_evaluations(recorded, "random"));
}

TEST(ModelSearch, ACostInOtherUnitsChangesNothing) {
  RecordedSpace recorded = additive_space();
  const std::vector<std::size_t> before = searched(recorded, search_strategy("model"), 9, 10);
  for (double& cost : recorded.costs) {
    cost += std::log(1e6);
  }
  EXPECT_EQ(searched(recorded, search_strategy("model"), 9, 10), before);
}

TEST(SearchStrategy, AnUnknownNameIsAnErrorWithTheNearest) {
  try {
    static_cast<void>(search_strategy("gredy"));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "unknown strategy 'gredy'");
    EXPECT_EQ(error.hint(), "did you mean 'greedy'?  known: random, greedy, annealing, model");
  }
}

}  // namespace
}  // namespace apo
