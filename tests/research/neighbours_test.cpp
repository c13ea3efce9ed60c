// tests/research/neighbours_test.cpp - the neighbourhood is one step wide, skips what was measured, and follows the
// best.
#include "harness/research/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace apo {
namespace {

const std::vector<Tunable> kTunables = {{.name = "CHUNK", .values = {16, 4, 8}}, {.name = "T", .values = {1, 2, 4}}};

std::set<Settings> propose(const Settings& centre, const std::vector<MeasuredSettings>& measured = {}) {
  const auto proposed = neighbours_of_best(kTunables, centre, measured, 7, 100);
  const std::set<Settings> unique(proposed.begin(), proposed.end());
  EXPECT_EQ(unique.size(), proposed.size());
  return unique;
}

TEST(Neighbourhood, IsOneStepAlongEachTunableBySize) {
  EXPECT_EQ(
      propose({{"CHUNK", 8}, {"T", 2}}),
      (std::set<Settings>{
          {{"CHUNK", 4}, {"T", 2}}, {{"CHUNK", 16}, {"T", 2}}, {{"CHUNK", 8}, {"T", 1}}, {{"CHUNK", 8}, {"T", 4}}}));
}

TEST(Neighbourhood, StartsFromTheDefaultsWhereNothingIsStated) {
  EXPECT_EQ(propose({}), (std::set<Settings>{{{"CHUNK", 8}, {"T", 1}}, {{"CHUNK", 16}, {"T", 2}}}));
}

TEST(Neighbourhood, SkipsWhatWasMeasured) {
  const auto proposed = propose({}, {{.settings = {{"CHUNK", 8}, {"T", 1}}, .effect = -0.1}});
  EXPECT_EQ(proposed, (std::set<Settings>{{{"CHUNK", 16}, {"T", 2}}}));
}

TEST(Neighbourhood, MovesToTheBestMeasuredSettings) {
  const auto proposed = propose({}, {{.settings = {{"CHUNK", 8}, {"T", 1}}, .effect = 0.1}});
  EXPECT_EQ(proposed, (std::set<Settings>{{{"CHUNK", 4}, {"T", 1}}, {{"CHUNK", 8}, {"T", 2}}}));
}

TEST(Neighbourhood, AValueOutsideTheListStillHasNeighbours) {
  EXPECT_TRUE(propose({{"CHUNK", 6}, {"T", 1}}).contains({{"CHUNK", 4}, {"T", 1}}));
  EXPECT_TRUE(propose({{"CHUNK", 6}, {"T", 1}}).contains({{"CHUNK", 8}, {"T", 1}}));
}

TEST(Neighbourhood, IsDeterministicAndKeepsToItsCount) {
  EXPECT_EQ(neighbours_of_best(kTunables, {}, {}, 3, 2), neighbours_of_best(kTunables, {}, {}, 3, 2));
  EXPECT_EQ(neighbours_of_best(kTunables, {}, {}, 3, 1).size(), 1u);
  EXPECT_TRUE(neighbours_of_best(kTunables, {}, {}, 3, -1).empty());
  EXPECT_TRUE(neighbours_of_best({}, {}, {}, 3, 5).empty());
  EXPECT_TRUE(neighbours_of_best({{.name = "EMPTY", .values = {}}}, {}, {}, 3, 5).empty());
}

// Replays a recorded space: the strategy alone, asked again and again, walks to the best settings.
TEST(Neighbourhood, FindsTheBestOfARecordedSpaceOneStepAtATime) {
  const auto recorded = [](const Settings& s) {
    return -0.01 * static_cast<double>(std::abs(s.at("CHUNK") - 4) + std::abs(s.at("T") - 4));
  };
  std::vector<MeasuredSettings> measured = {
      {.settings = {{"CHUNK", 16}, {"T", 1}}, .effect = recorded({{"CHUNK", 16}, {"T", 1}})}};
  for (int step = 0; step < 9; ++step) {
    const auto next = neighbours_of_best(kTunables, {}, measured, 1, 1);
    if (next.empty()) {
      break;
    }
    measured.push_back({.settings = next.front(), .effect = recorded(next.front())});
  }
  const auto best =
      std::max_element(measured.begin(), measured.end(), [](auto& a, auto& b) { return a.effect < b.effect; });
  EXPECT_EQ(best->settings, (Settings{{"CHUNK", 4}, {"T", 4}}));
}

}  // namespace
}  // namespace apo
