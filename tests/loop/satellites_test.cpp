// tests/loop/satellites_test.cpp - the candidates of an iteration, handed out one by one.
#include "harness/loop/satellites.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

Candidate named(const std::string& variant) {
  return {.configuration = {variant, {}}, .techniques = {}};
}

TEST(RankedCandidates, EachIsTakenOnceTheBestFirst) {
  RankedCandidates candidates({named("a"), named("b")}, 5, [] { return std::vector<Candidate>(); });
  EXPECT_EQ(candidates.best()->configuration.variant, "a");
  EXPECT_EQ(candidates.take()->configuration.variant, "a");
  EXPECT_EQ(candidates.take()->configuration.variant, "b");
  EXPECT_FALSE(candidates.take());
}

TEST(RankedCandidates, ANewRankingOffersNoneTwice) {
  RankedCandidates candidates({named("a"), named("b")}, 5, [] {
    return std::vector<Candidate>{named("a"), named("c"), named("b")};
  });
  candidates.take();
  candidates.rank_anew();
  EXPECT_EQ(candidates.take()->configuration.variant, "c");
}

TEST(RankedCandidates, NoMoreAreTakenThanThePolicyAllows) {
  int rankings = 0;
  RankedCandidates candidates({named("a"), named("b")}, 1, [&] {
    ++rankings;
    return std::vector<Candidate>{named("b")};
  });
  EXPECT_TRUE(candidates.take());
  candidates.rank_anew();
  EXPECT_FALSE(candidates.best());
  EXPECT_EQ(rankings, 0) << "nobody would ask";
}

}  // namespace
}  // namespace apo
