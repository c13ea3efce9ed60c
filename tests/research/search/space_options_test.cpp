// tests/research/search/space_options_test.cpp - which settings are options, their neighbours, and what the model
// evaluates next.
#include "harness/research/search/space_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "kernels/random.h"

namespace apo {
namespace {

Variant with_tunables(int count, const std::vector<std::int64_t>& values) {
  Variant variant;
  for (int i = 0; i < count; ++i) {
    variant.tunables.push_back({.name = std::string(1, static_cast<char>('A' + i)), .values = values});
  }
  return variant;
}

TEST(SuggestedSettings, AreTheNeighboursOfTheBestAndWhatTheModelSuggests) {
  const Variant variant = with_tunables(5, {1, 2, 3, 4});  // 1024
  const KnownSettings start{.settings = {{"A", 1}, {"B", 1}, {"C", 1}, {"D", 1}, {"E", 1}}, .effect = 0};
  KnownSettings best = start;
  best.settings["A"] = 3;
  best.effect = 0.5;
  const std::vector<Settings> legal = settings_space(variant);
  const std::vector<Settings> options = suggested_settings(variant, legal, {start, best}, 1);
  EXPECT_EQ(options, suggested_settings(variant, legal, {start, best}, 1));
  EXPECT_LE(options.size(), 6U + kSuggestions);
  EXPECT_GE(options.size(), kSuggestions);
  EXPECT_EQ(std::set<Settings>(options.begin(), options.end()).size(), options.size());
  for (const std::int64_t value : {2, 4}) {
    Settings step = best.settings;
    step["A"] = value;
    EXPECT_NE(std::ranges::find(options, step), options.end()) << value;
  }
}

std::set<Levels> neighbours_in(const SearchSpace& space, const Levels& point) {
  std::set<Levels> found;
  for (const std::size_t index : space.neighbours(space.find(point).value())) {
    found.insert(space.point(index));
  }
  return found;
}

TEST(SearchSpace, NeighboursAreOneStepAlongEachTunable) {
  const SearchSpace space({3, 2}, {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}});
  EXPECT_EQ(neighbours_in(space, {1, 0}), (std::set<Levels>{{0, 0}, {2, 0}, {1, 1}}));
  EXPECT_EQ(neighbours_in(space, {0, 1}), (std::set<Levels>{{0, 0}, {1, 1}}));
}

TEST(SearchSpace, AStepPassesOverLevelsThatAreNotLegal) {
  const SearchSpace space({4}, {{0}, {2}, {3}});
  EXPECT_EQ(neighbours_in(space, {0}), (std::set<Levels>{{2}}));
  EXPECT_EQ(neighbours_in(space, {2}), (std::set<Levels>{{0}, {3}}));
  EXPECT_FALSE(space.find({1}));
}

struct KnownSpace {
  SearchSpace space;
  std::vector<double> costs;  // of each point
};

KnownSpace known_space(const Levels& counts, const std::function<double(const Levels&)>& cost_of,
                       const std::function<bool(const Levels&)>& is_legal = nullptr) {
  std::size_t all = 1;
  for (const std::size_t count : counts) {
    all *= count;
  }
  std::vector<Levels> legal;
  std::vector<double> costs;
  for (std::size_t number = 0; number < all; ++number) {
    Levels point;
    std::size_t rest = number;
    for (const std::size_t count : counts) {
      point.push_back(rest % count);
      rest /= count;
    }
    if (!is_legal || is_legal(point)) {
      legal.push_back(point);
      costs.push_back(cost_of(point));
    }
  }
  return {.space = SearchSpace(counts, std::move(legal)), .costs = std::move(costs)};
}

// Six toggles and two tunables with an effect each that adds to the others'.
KnownSpace additive_space() {
  return known_space({2, 2, 2, 2, 2, 2, 3, 3}, [](const Levels& point) {
    const std::vector<double> effects = {0.3, -0.2, 0.15, -0.1, 0.02, -0.25, 0.1, -0.12};
    double cost = 0;
    for (std::size_t p = 0; p < point.size(); ++p) {
      cost += effects[p] * static_cast<double>(point[p]);
    }
    return cost;
  });
}

// Two toggles that cost alone and help together, a tunable that is legal with the first alone, and a little noise.
KnownSpace paired_space() {
  return known_space(
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

// The first points that the model evaluates, or all.
std::vector<std::size_t> searched(const KnownSpace& known, std::uint64_t seed, std::size_t most = 1000) {
  std::vector<Evaluated> history;
  std::vector<std::size_t> points;
  while (const auto point = points.size() < most ? next_point(known.space, history, seed) : std::nullopt) {
    history.push_back({.point = *point, .cost = known.costs[*point]});
    points.push_back(*point);
  }
  return points;
}

TEST(SpaceModel, EveryPointIsEvaluatedOnce) {
  for (const double cost : {0.0, 0.1}) {  // 0: all are equal
    const KnownSpace known =
        known_space({2, 2, 3, 2}, [&](const Levels& point) { return cost * static_cast<double>(point[0] + point[2]); });
    const std::vector<std::size_t> points = searched(known, 3);
    EXPECT_EQ(points.size(), 24U);
    EXPECT_EQ(std::set<std::size_t>(points.begin(), points.end()).size(), points.size());
  }
}

// Counts the evaluations until the best point, up to `most`.
std::size_t evaluations_until_best(const KnownSpace& known, std::uint64_t seed, std::size_t most) {
  const double best = *std::ranges::min_element(known.costs);
  std::vector<Evaluated> history;
  while (history.size() < most && (history.empty() || history.back().cost > best)) {
    const std::size_t point = next_point(known.space, history, seed).value();
    history.push_back({.point = point, .cost = known.costs[point]});
  }
  return history.size();
}

// A random order needs half of the points on average.
TEST(SpaceModel, TheBestIsFoundInAQuarterOfTheSpace) {
  for (const KnownSpace& known : {additive_space(), paired_space()}) {
    const std::size_t quarter = known.space.size() / 4;
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      found += evaluations_until_best(known, seed, quarter) < quarter ? 1 : 0;
    }
    EXPECT_GE(found, 3) << "of 5 searches in " << known.space.size() << " points";
  }
}

TEST(SpaceModel, OneSeedAndHistoryChooseTheSame) {
  const KnownSpace known = paired_space();
  EXPECT_EQ(searched(known, 5, 12), searched(known, 5, 12));
  EXPECT_NE(searched(known, 5, 12), searched(known, 6, 12));
}

TEST(SpaceModel, AnotherUnitOfTimeChangesNothing) {
  KnownSpace known = additive_space();
  const std::vector<std::size_t> before = searched(known, 9, 10);
  for (double& cost : known.costs) {
    cost += std::log(1e6);
  }
  EXPECT_EQ(searched(known, 9, 10), before);
}

}  // namespace

}  // namespace apo
