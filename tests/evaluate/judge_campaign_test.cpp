// tests/evaluate/judge_campaign_test.cpp - certification, the ratchet alarm, sentinels, clock coupling.
#include "harness/evaluate/judge_campaign.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/normal.h"
#include "harness/evaluate/signed_rank.h"
#include "kernels/random.h"
#include "tests/evaluate/rounds.h"

namespace apo {
namespace {

std::vector<Round> certification_rounds(double effect, double sd, int count = kCertificationRounds) {
  std::vector<Round> rounds;
  for (int i = 0; i < count; ++i) {
    const double noise = sd * normal_quantile((i + 0.5) / count);
    rounds.push_back(make_round({.stage = "certify", .index = i}, {effect + noise}));
  }
  return rounds;
}

std::vector<double> normals(std::uint64_t seed, int count, double centre, double sd) {
  Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(centre + sd * random.normal());
  }
  return values;
}

TEST(Certification, PublishesTheHeadToHeadEffectWithItsInterval) {
  const Certification result = certify(certification_rounds(0.4, 0.01), 0.41);
  EXPECT_NEAR(result.effect, 0.4, 1e-6);
  EXPECT_LT(result.lower, 0.396);
  EXPECT_GT(result.upper, 0.404);
  EXPECT_EQ(result.rounds, 38);
  EXPECT_NEAR(result.seconds, 38 * 0.4, 1e-9);
  EXPECT_FALSE(result.alarm);
}

TEST(Certification, RatchetOfNoOpsRaisesTheAlarm) {
  EXPECT_TRUE(certify(certification_rounds(0.0, 0.01), 0.10).alarm);
  EXPECT_TRUE(certify(certification_rounds(0.06, 0.001), 0.10).alarm);
  EXPECT_FALSE(certify(certification_rounds(0.075, 0.001), 0.10).alarm);
}

TEST(Certification, IgnoresEffectsThatWereWrittenIntoTheRecord) {
  std::vector<Round> rounds = certification_rounds(0.0, 0.001);
  for (Round& round : rounds) {
    round.effect = 0.5;
  }
  EXPECT_NEAR(certify(rounds, 0.0).effect, 0.0, 1e-6);
}

TEST(Certification, NeedsThirtyEightRoundsThatCount) {
  EXPECT_THROW(certify(certification_rounds(0.1, 0.01, 37), 0.1), UserError);
  EXPECT_THROW(certify(certification_rounds(0.1, 0.01, 39), 0.1), UserError);
  std::vector<Round> rounds = certification_rounds(0.1, 0.01, 39);
  rounds[4].void_why = "throttled";
  EXPECT_NO_THROW(certify(rounds, 0.1));
  EXPECT_THROW(certify(rounds, std::nan("")), UserError);
}

TEST(Sentinel, QuietMachinePasses) {
  const auto effects = normals(1, kSentinelRounds, 0.0, 0.005);
  const SentinelCheck check = check_sentinel(effects, {}, standard_profile());
  EXPECT_FALSE(check.stop);
  EXPECT_EQ(check.sd, standard_deviation(effects));
  EXPECT_EQ(check.p, check.pooled_p);
}

TEST(Sentinel, DifferenceOfIdenticalCodeStopsTheCampaign) {
  const SentinelCheck check = check_sentinel(normals(2, kSentinelRounds, 0.02, 0.003), {}, standard_profile());
  EXPECT_TRUE(check.stop);
  EXPECT_LT(check.p, 0.001);
  EXPECT_NE(check.why.find("identical code differed by +"), std::string::npos);
}

TEST(Sentinel, SignificantDifferenceInsideTheMarginDoesNotStopAtOnce) {
  const SentinelCheck check = check_sentinel(normals(3, kSentinelRounds, 0.001, 0.0001), {}, standard_profile());
  EXPECT_LT(check.p, 0.001);
  EXPECT_LT(std::fabs(check.effect), 0.003);
  // ... but identical code must not differ at all, and the pooled test says so.
  EXPECT_TRUE(check.stop);
  EXPECT_NE(check.why.find("over all sentinels"), std::string::npos);
}

TEST(Sentinel, SmallBiasIsFoundOverManySentinels) {
  const auto earlier = normals(4, 10 * kSentinelRounds, 0.002, 0.005);
  const auto last = normals(5, kSentinelRounds, 0.002, 0.005);
  EXPECT_FALSE(check_sentinel(last, {}, standard_profile()).stop);
  EXPECT_TRUE(check_sentinel(last, earlier, standard_profile()).stop);
}

TEST(Sentinel, FalseAlarmsAreRare) {
  int alarms = 0;
  for (std::uint64_t seed = 100; seed < 2100; ++seed) {
    alarms += check_sentinel(normals(seed, kSentinelRounds, 0, 0.01), {}, standard_profile()).stop ? 1 : 0;
  }
  EXPECT_LE(alarms, 8);  // 2000 x .001 expected at most
}

TEST(Sentinel, MoreThanTheTableHoldsUsesTheNewest) {
  const auto earlier = normals(6, 2000, 0, 0.01);
  EXPECT_FALSE(check_sentinel(normals(7, kSentinelRounds, 0, 0.01), earlier, standard_profile()).stop);
  const double bad[] = {0.0, std::nan("")};
  EXPECT_THROW(check_sentinel(bad, {}, standard_profile()), UserError);
}

std::vector<Segment> segments(double candidate_seconds, double candidate_mhz) {
  std::vector<Segment> all;
  for (int block = 0; block < 6; ++block) {
    for (const bool candidate : {block % 2 == 0, block % 2 != 0, block % 2 != 0, block % 2 == 0}) {
      all.push_back({.candidate = candidate,
                     .seconds = candidate ? candidate_seconds : 2.0,
                     .calls = 1000,
                     .mhz = candidate ? candidate_mhz : 1980});
    }
  }
  return all;
}

TEST(ClockCoupling, CandidateThatHeatsTheChipIsFound) {
  const ClockCoupling coupled = check_clock_coupling(segments(1.95, 1900));  // fewer cycles, but at a lower clock
  EXPECT_TRUE(coupled.coupled);
  EXPECT_NEAR(coupled.time_effect, std::log(2 / 1.95), 1e-12);
  EXPECT_NEAR(coupled.cycle_effect, std::log(2 * 1980 / (1.95 * 1900)), 1e-12);
  EXPECT_FALSE(check_clock_coupling(segments(1.95, 1980)).coupled);
}

TEST(ClockCoupling, WhatIsNoBlockOfSegmentsIsRefused) {
  EXPECT_THROW(check_clock_coupling({}), UserError);
  auto cut = segments(1.95, 1980);
  cut.pop_back();
  EXPECT_THROW(check_clock_coupling(cut), UserError);
  auto unordered = segments(1.95, 1980);
  unordered[1].candidate = !unordered[1].candidate;
  EXPECT_THROW(check_clock_coupling(unordered), UserError);
  auto frozen = segments(1.95, 1980);
  frozen[2].mhz = 0;
  EXPECT_THROW(check_clock_coupling(frozen), UserError);
}

}  // namespace
}  // namespace apo
