// tests/loop/space/replayed_space_test.cpp - what a strategy sees of a T4 file.
#include "harness/loop/space/replayed_space.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/error.h"

namespace apo {
namespace {

T4Result result(const T4Configuration& configuration, const std::vector<T4Measurement>& measurements,
                Invalidity invalidity = Invalidity::correct) {
  return {
      .configuration = configuration, .objectives = {"time"}, .invalidity = invalidity, .measurements = measurements};
}

T4Measurement time(double value, const std::string& unit) {
  return {.name = "time", .value = value, .unit = unit};
}

std::string error_of(const T4File& file) {
  try {
    static_cast<void>(replayed_space(file, "f.json"));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ReplayedSpace, LevelsAreInOrderOfTheValuesAndWordsHaveNone) {
  const RecordedSpace space =
      replayed_space({.results = {result({{"B", std::int64_t{256}}, {"L", std::string("rows")}}, {time(1, "ms")}),
                                  result({{"B", std::int64_t{64}}, {"L", std::string("columns")}}, {time(2, "ms")}),
                                  result({{"B", 100.5}, {"L", std::string("rows")}}, {time(3, "ms")})}},
                     "f.json");
  ASSERT_EQ(space.space.parameters().size(), 2U);
  EXPECT_EQ(space.space.parameters()[0].levels, 3U);
  EXPECT_TRUE(space.space.parameters()[0].ordered);
  EXPECT_FALSE(space.space.parameters()[1].ordered);
  EXPECT_EQ(space.space.point(0)[0], 2U);
  EXPECT_EQ(space.space.point(1)[0], 0U);
  EXPECT_EQ(space.space.point(2)[0], 1U);
}

TEST(ReplayedSpace, TimesOfAllUnitsAreCompared) {
  const RecordedSpace space = replayed_space({.results = {result({{"B", std::int64_t{1}}}, {time(1500, "us")}),
                                                          result({{"B", std::int64_t{2}}}, {time(1.5, "ms")}),
                                                          result({{"B", std::int64_t{3}}}, {time(0.0015, "")}),
                                                          result({{"B", std::int64_t{4}}}, {}, Invalidity::compile)}},
                                             "f.json");
  EXPECT_DOUBLE_EQ(space.costs[0], space.costs[1]);
  EXPECT_NEAR(space.costs[2], space.costs[1] - std::log(1000), 1e-12) << "without a unit it is that of the file";
  EXPECT_TRUE(std::isinf(space.costs[3]));
}

TEST(ReplayedSpace, SpeedupsOverOneReferenceCountInPlaceOfTimes) {
  T4File file{
      .origin = T4Origin{},
      .results = {result({{"B", std::int64_t{1}}}, {time(1, "ms"), {.name = "speedup", .value = 2, .unit = ""}}),
                  result({{"B", std::int64_t{2}}}, {time(1, "ms"), {.name = "speedup", .value = 1, .unit = ""}})}};
  EXPECT_NEAR(replayed_space(file, "f.json").costs[0], -std::log(2), 1e-12);
  file.origin.reset();
  EXPECT_EQ(replayed_space(file, "f.json").costs[0], replayed_space(file, "f.json").costs[1]);
}

TEST(ReplayedSpace, AValidConfigurationWithoutATimeIsAnError) {
  EXPECT_EQ(error_of({.results = {result({{"B", std::int64_t{1}}}, {})}}),
            "f.json: B=1: its objective 'time' is not among its measurements");
  EXPECT_EQ(error_of({.results = {result({{"B", std::int64_t{1}}}, {time(0, "ms")})}}),
            "f.json: B=1: its time is not positive");
  T4Result rate = result({{"B", std::int64_t{1}}}, {{.name = "GFLOP/s", .value = 5, .unit = ""}});
  rate.objectives = {"GFLOP/s"};
  EXPECT_EQ(error_of({.results = {rate}}), "f.json: B=1: its objective 'GFLOP/s' is no time");
  EXPECT_EQ(error_of({}), "f.json holds no result");
}

}  // namespace
}  // namespace apo
