// tests/evaluate/judge/campaign_claims_test.cpp - certification, the ratchet alarm, sentinels, clock coupling.
#include "harness/evaluate/judge/campaign_claims.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "harness/core/error.h"
#include "harness/core/normal.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "kernels/random.h"
#include "tests/evaluate/judge/rounds.h"
#include "tests/text.h"

namespace apo {
namespace {

std::vector<Round> certification_rounds(double effect, double sd, int count = kCertificationRounds) {
  std::vector<Round> rounds;
  for (int i = 0; i < count; ++i) {
    const double noise = sd * normal_quantile((i + 0.5) / count);
    rounds.push_back(make_round({.stage = RoundStage::certify, .index = i}, {effect + noise}));
  }
  return rounds;
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

TEST(BaselineClaim, SaysWhatBothArmsAreOfTheBaselineAndHoldsWhereTheirDifferenceIsTheClaim) {
  const std::vector<double> equal(kBaselineRounds, 0.0), slow(kBaselineRounds, -2.0), slight(kBaselineRounds, -0.3);
  const BaselineClaim holds = check_baseline_claim(2.0, equal, slow);
  EXPECT_TRUE(holds.holds);
  EXPECT_EQ(baseline_sentence(holds, "c/new", "c/plain", 7.389),
            "Against the family's baseline c/plain it is 1.00x [1.00x, 1.00x] (n=10); the incumbent itself is "
            "slower than that: 0.14x [0.14x, 0.14x].");
  EXPECT_EQ(baseline_sentence(check_baseline_claim(0.0, equal, equal), "c/plain", "c/plain", 1),
            "It is the family's own baseline.");
  const BaselineClaim fails = check_baseline_claim(2.0, equal, slight);
  EXPECT_FALSE(fails.holds);
  expect_contains(baseline_sentence(fails, "c/new", "c/plain", 7.389), "The gain did not come back");
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
  const SentinelCheck check = check_sentinel(effects, {}, standard_preset());
  EXPECT_FALSE(check.stop);
  EXPECT_EQ(check.sd, standard_deviation(effects));
  EXPECT_EQ(check.p, check.pooled_p);
}

TEST(Sentinel, DifferenceOfIdenticalCodeStopsTheCampaign) {
  const SentinelCheck check = check_sentinel(normals(2, kSentinelRounds, 0.02, 0.003), {}, standard_preset());
  EXPECT_TRUE(check.stop);
  EXPECT_LT(check.p, 0.001);
  expect_contains(check.why, "identical code differed by +");
}

TEST(Sentinel, SignificantDifferenceThatCannotMakeAnAcceptDoesNotStop) {
  const SentinelCheck check = check_sentinel(normals(3, kSentinelRounds, 0.001, 0.0001), {}, standard_preset());
  EXPECT_LT(check.p, 0.001);
  EXPECT_LT(std::fabs(check.effect), 0.003);
  EXPECT_LT(check.pooled_p, 0.001);
  EXPECT_FALSE(check.stop);
}

TEST(Sentinel, SmallBiasIsFoundOverManySentinels) {
  const auto earlier = normals(4, 10 * kSentinelRounds, 0.002, 0.005);
  const auto last = normals(5, kSentinelRounds, 0.002, 0.005);
  EXPECT_FALSE(check_sentinel(last, {}, standard_preset()).stop);
  const SentinelCheck check = check_sentinel(last, earlier, standard_preset());
  EXPECT_TRUE(check.stop);
  expect_contains(check.why, "over all sentinels");
}

TEST(Sentinel, FalseAlarmsAreRare) {
  int alarms = 0;
  for (std::uint64_t seed = 100; seed < 2100; ++seed) {
    alarms += check_sentinel(normals(seed, kSentinelRounds, 0, 0.01), {}, standard_preset()).stop ? 1 : 0;
  }
  EXPECT_LE(alarms, 8);  // 2000 x .001 expected at most
}

// Rounds of identical code whose effects are those of `centre(index)` with a little noise.
SentinelResult sentinel_of(const std::function<double(int)>& centre) {
  SilentObserver silent;
  const RoundSource source = [&](RoundStage stage, int index, double&) -> Result<Round> {
    const double noise = 0.001 * normal_quantile((index % kSentinelRounds + 0.5) / kSentinelRounds);
    return make_round({.stage = stage, .index = index}, {centre(index) + noise});
  };
  return run_sentinel(source, "of a test", standard_preset(), {}, silent);
}

TEST(Sentinel, OneAlarmIsLookedAtAgainAndItsRoundsAreKept) {
  const SentinelResult result = sentinel_of([](int index) { return index < kSentinelRounds ? 0.02 : 0; });
  EXPECT_FALSE(result.check.stop);
  EXPECT_LT(std::fabs(result.check.effect), 0.001);
  ASSERT_EQ(result.rounds.size(), 2U * kSentinelRounds);
  EXPECT_NE(result.rounds.front().void_why, "");
  EXPECT_EQ(result.rounds.back().void_why, "");
}

TEST(Sentinel, TwoAlarmsStop) {
  const SentinelResult result = sentinel_of([](int) { return 0.02; });
  EXPECT_TRUE(result.check.stop);
  EXPECT_EQ(result.rounds.size(), 2U * kSentinelRounds);
}

TEST(Sentinel, MoreThanTheTableHoldsUsesTheNewest) {
  const auto earlier = normals(6, 2000, 0, 0.01);
  EXPECT_FALSE(check_sentinel(normals(7, kSentinelRounds, 0, 0.01), earlier, standard_preset()).stop);
  const double bad[] = {0.0, std::nan("")};
  EXPECT_THROW(check_sentinel(bad, {}, standard_preset()), UserError);
}

// A world in which the candidate needs `cycles` of the incumbent's cycles and runs alone at `clock` of its clock. NVML
// says clocks in steps of 15 MHz, a few readings a solo run, and every reading and every time has noise of its own.
struct SoloRunWorld {
  double cycles = 0.95;
  double clock = 1;
  double time_noise = 0.001;
  double clock_noise_mhz = 0;
  double step_mhz = 15;
  int readings = 20;
};

double read_clock(const SoloRunWorld& world, double mhz, Random& random) {
  double sum = 0;
  for (int i = 0; i < world.readings; ++i) {
    sum += std::round((mhz + world.clock_noise_mhz * random.normal()) / world.step_mhz) * world.step_mhz;
  }
  return sum / world.readings;
}

std::vector<SoloRun> solo_runs(const SoloRunWorld& world, std::uint64_t seed = 1, const std::string& workload = "w") {
  constexpr double kMhz = 1972;  // between two steps
  constexpr double kCalls = 1000;
  constexpr double kCallSeconds = 2e-3;
  Random random(seed);
  std::vector<SoloRun> all;
  for (int block = 0; block < kSoloRunBlocks; ++block) {
    const bool outer = random.coin();
    for (const bool candidate : {outer, !outer, !outer, outer}) {
      const double clock = candidate ? world.clock : 1;
      all.push_back({.workload = workload,
                     .candidate = candidate,
                     .seconds = kCalls * kCallSeconds * (candidate ? world.cycles : 1) / clock *
                                std::exp(world.time_noise * random.normal()),
                     .calls = kCalls,
                     .mhz = read_clock(world, kMhz * clock, random),
                     .readings = world.readings});
    }
  }
  return all;
}

TEST(ClockCoupling, CandidateThatLowersTheClockOnlyAloneIsFound) {
  const ClockCoupling found = check_clock_coupling(solo_runs({.clock = 0.97, .clock_noise_mhz = 15}));
  EXPECT_TRUE(found.coupled);
  EXPECT_NEAR(found.time_effect, std::log(0.97 / 0.95), 0.002) << "what the interleaved rounds hide is off it";
  EXPECT_NEAR(found.cycle_effect, std::log(1 / 0.95), 0.006);
  EXPECT_NEAR(found.clock_effect, std::log(0.97), 0.005);
  EXPECT_LT(found.clock_upper, 0);
  EXPECT_LE(found.time_lower, found.time_effect);
  EXPECT_GE(found.time_upper, found.time_effect);
  EXPECT_EQ(found.blocks, 6);
  EXPECT_DOUBLE_EQ(found.confidence, 0.96875);
}

TEST(ClockCoupling, IsWhatMovesTheClockByHalfAPercentAndNothingElse) {
  const struct {
    SoloRunWorld world;
    bool coupled;
  } cases[] = {{{.clock = 1.02}, true},
               {{.clock = 0.993, .step_mhz = 1}, true},
               {{.clock = 0.997, .step_mhz = 1}, false},
               {{.cycles = 0.5}, false},
               {{.cycles = 1.3}, false},
               {{.time_noise = 0.2}, false}};
  for (const auto& one : cases) {
    EXPECT_EQ(check_clock_coupling(solo_runs(one.world)).coupled, one.coupled) << one.world.clock << one.world.cycles;
  }
}

TEST(ClockCoupling, StepsAndNoiseOfTheReadingsAreNotLabelled) {
  int labelled = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    labelled += check_clock_coupling(solo_runs({.clock_noise_mhz = 15}, seed)).coupled ? 1 : 0;
    // One reading a solo run: a step of 15 MHz is 0.76 %.
    labelled += check_clock_coupling(solo_runs({.clock_noise_mhz = 15, .readings = 1}, seed)).coupled ? 1 : 0;
  }
  EXPECT_LE(labelled, 100);  // of 4000; two in 64 are all on one side by chance, and not all of those by 0.5 %
  labelled = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    labelled += check_clock_coupling(solo_runs({.clock = 0.97, .clock_noise_mhz = 15}, seed)).coupled ? 1 : 0;
  }
  EXPECT_EQ(labelled, 500);
}

TEST(ClockCoupling, SeveralWorkloadsCountAsTheirMean) {
  std::vector<SoloRun> all = solo_runs({.cycles = 0.9, .clock = 0.96, .step_mhz = 1}, 1, "a");
  const std::vector<SoloRun> other = solo_runs({.cycles = 1, .clock = 1, .step_mhz = 1}, 2, "b");
  all.insert(all.begin() + 4, other.begin(), other.end());  // blocks may be mixed
  const ClockCoupling found = check_clock_coupling(all);
  EXPECT_TRUE(found.coupled);
  EXPECT_NEAR(found.clock_effect, std::log(0.96) / 2, 0.001);
  EXPECT_NEAR(found.time_effect, std::log(0.96 / 0.9) / 2, 0.002);
  EXPECT_EQ(found.blocks, 6);
  all.resize(all.size() - 4);
  EXPECT_THROW(check_clock_coupling(all), UserError);
}

TEST(ClockCoupling, TooFewBlocksAreNeverEnough) {
  std::vector<SoloRun> few = solo_runs({.clock = 0.5});
  few.resize(4 * 5);
  EXPECT_FALSE(check_clock_coupling(few).coupled);
}

TEST(ClockCoupling, WhatIsNoBlockOfSoloRunsIsRefused) {
  EXPECT_THROW(check_clock_coupling({}), UserError);
  auto cut = solo_runs({});
  cut.pop_back();
  EXPECT_THROW(check_clock_coupling(cut), UserError);
  auto unordered = solo_runs({});
  unordered[1].candidate = !unordered[1].candidate;
  EXPECT_THROW(check_clock_coupling(unordered), UserError);
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    auto stopped = solo_runs({});
    stopped[2].mhz = bad;
    EXPECT_THROW(check_clock_coupling(stopped), UserError) << bad;
  }
}

Certification with_clock(double clock) {
  Certification certification{
      .incumbent = {"f/b", {}}, .baseline = {"f/a", {}}, .effect = 0.05, .lower = 0.04, .upper = 0.06, .rounds = 38};
  certification.clock = check_clock_coupling(solo_runs({.clock = clock}));
  certification.clock->solo_run_s = 2;
  return certification;
}

TEST(ClockCoupling, ACoupledCertificationQuotesItsSoloRuns) {
  const Certification coupled = with_clock(0.97);
  EXPECT_EQ(coupled.quoted().effect, coupled.clock->time_effect);
  EXPECT_EQ(coupled.quoted().lower, coupled.clock->time_lower);
  EXPECT_EQ(coupled.quoted().confidence, coupled.clock->confidence);
  const std::string text = certified_text(coupled);
  expect_contains(text, "n=24; clock-coupled: alone the final incumbent runs at a clock");
  expect_contains(text, "% lower than the baseline does");
  expect_contains(text, "24 solo runs of 2 s");
  expect_contains(text, "1.051x [1.041x, 1.062x]");
}

TEST(ClockCoupling, AnyOtherCertificationQuotesItsRounds) {
  Certification same = with_clock(1);
  EXPECT_EQ(same.quoted().effect, 0.05);
  EXPECT_EQ(same.quoted().confidence, 0.998);
  EXPECT_EQ(certified_text(same), "f/b is 1.051x [1.041x, 1.062x] the speed of f/a, n=38");
  same.clock = ClockCoupling{.missing = "no counters"};
  EXPECT_EQ(same.quoted().effect, 0.05);
  EXPECT_EQ(clock_text(same), "whether the final incumbent changes the clock is not known: no counters");
  EXPECT_TRUE(certified_text(same).ends_with("n=38; whether it changes the clock is not known"));
  same.clock.reset();
  EXPECT_EQ(clock_text(same), "");
}

}  // namespace
}  // namespace apo
