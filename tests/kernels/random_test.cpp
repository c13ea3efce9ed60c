// tests/kernels/random_test.cpp - the random streams: reproducible, independent, and distributed as they say.
#include "kernels/random.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

namespace apo {
namespace {

TEST(Random, SameSeedGivesTheSameStream) {
  Random first(3), second(3), other(4);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = first.next();
    EXPECT_EQ(value, second.next());
    EXPECT_NE(value, other.next());
  }
}

// Pinned: a journal's seeds must mean the same inputs tomorrow.
TEST(Random, StreamNeverChanges) {
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafull);  // SplitMix64's published first output
  EXPECT_EQ(derive_seed(1, "k", 2), derive_seed(1, "k", 2));
}

TEST(Random, DerivedSeedsDifferByParentNameAndIndex) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t parent = 0; parent < 10; ++parent) {
    for (const char* name : {"", "k", "q", "kq", "qk"}) {
      for (std::uint64_t index = 0; index < 10; ++index) {
        seeds.insert(derive_seed(parent, name, index));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 500u);
}

TEST(Random, UniformStaysInsideTheOpenInterval) {
  Random random(1);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double value = random.uniform();
    ASSERT_GT(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 5 * 0.29 / std::sqrt(100000.0));
}

TEST(Random, BelowReachesEveryValueAndNoOther) {
  Random random(2);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    seen.insert(random.below(7));
  }
  EXPECT_EQ(seen, (std::set<std::uint64_t>{0, 1, 2, 3, 4, 5, 6}));
}

// Pinned: a round that is replayed from its seed keeps the order of its workloads.
TEST(Random, ShuffledOrderNeverChanges) {
  std::vector<int> items(8);
  std::iota(items.begin(), items.end(), 0);
  Random random(5);
  shuffle(items, random);
  EXPECT_EQ(items, (std::vector<int>{7, 3, 6, 4, 2, 1, 0, 5}));
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(9);
  constexpr int kCount = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
    fourth += value * value * value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.016);      // 5 sigma
  EXPECT_NEAR(squares / kCount, 1, 0.023);  // 5 sqrt(2/n)
  EXPECT_NEAR(fourth / kCount, 3, 0.16);    // 5 sqrt(96/n)
}

TEST(Random, CoinIsFair) {
  Random random(8);
  int heads = 0;
  for (int i = 0; i < 10000; ++i) {
    heads += random.coin() ? 1 : 0;
  }
  EXPECT_NEAR(heads, 5000, 250);
}

}  // namespace
}  // namespace apo
