// tests/journal/encode_test.cpp - the columns whose text older programs wrote, and newer ones will.
#include "journal/encode.h"

#include <gtest/gtest.h>

#include "harness/core/error.h"

namespace apo {
namespace {

Round round_of(const std::vector<std::string>& workloads) {
  Round round;
  for (const std::string& name : workloads) {
    round.workloads.push_back({.workload = name});
  }
  return round;
}

TEST(EncodeEnvironment, ColumnHasTheNamesThatQueriesUse) {
  Round round = round_of({"n4k"});
  round.environment = {
      .steal_percent = 0.5, .layout = Layout::random, .same_process = true, .second_clock = true, .throttle_bits = 4};
  round.workloads[0].checks = {.activity_incumbent = 1.5, .activity_candidate = 1.25};
  EXPECT_EQ(encode_environment(round),
            R"({"activity_ns_candidate":1.25,"activity_ns_incumbent":1.5,"random_layout":1.0,"same_process":1.0,)"
            R"("second_clock":1.0,"steal_percent":0.5,"throttle_bits":4.0})");
  EXPECT_EQ(encode_environment(round_of({"n4k"})), "{}");
}

TEST(EncodeEnvironment, EveryWorkloadOfSeveralHasItsOwnChecks) {
  Round round = round_of({"n4k", "n1m"});
  round.workloads[0].checks.fresh_incumbent = 1;
  round.workloads[1].checks.fresh_incumbent = 2;
  const std::string text = encode_environment(round);
  EXPECT_EQ(text, R"({"fresh_ns_incumbent_n1m":2.0,"fresh_ns_incumbent_n4k":1.0})");
  Round back = round_of({"n4k", "n1m"});
  decode_environment(text, back);
  EXPECT_EQ(back.workloads[0].checks, round.workloads[0].checks);
  EXPECT_EQ(back.workloads[1].checks, round.workloads[1].checks);
}

TEST(EncodeEnvironment, ReadsRecordedColumnsAndIgnoresTheNameOfAnotherProgram) {
  Round round = round_of({"b16_t512_h83_n32"});
  decode_environment(
      R"({"activity_ns_candidate":41212.5,"celsius":39.0,"fan_percent":30.0,"process_start_s":0.25,)"
      R"("random_layout":0.0,"second_clock":0.0,"sm_mhz_after":1980.0,"sm_mhz_before":1965.0,"start_wait_s":0.125,)"
      R"("steal_percent":0.0,"throttle_bits":4.0,"watts":412.0})",
      round);
  EXPECT_EQ(round.environment, (RoundEnvironment{.steal_percent = 0,
                                                 .layout = Layout::fixed,
                                                 .process_start_s = 0.25,
                                                 .start_wait_s = 0.125,
                                                 .second_clock = false,
                                                 .sm_mhz_before = 1965,
                                                 .sm_mhz_after = 1980,
                                                 .throttle_bits = 4,
                                                 .celsius = 39,
                                                 .watts = 412}));
  EXPECT_EQ(round.workloads[0].checks.activity_candidate, 41212.5);
}

TEST(EncodeEnvironment, BitsThatAreNoNumberAreDamage) {
  for (const char* text : {R"({"throttle_bits":"nan"})", R"({"throttle_bits":-1})", R"({"throttle_bits":"inf"})",
                           R"({"throttle_bits":[]})", "{"}) {
    Round round = round_of({"n4k"});
    EXPECT_THROW(decode_environment(text, round), EnvironmentError) << text;
  }
}

TEST(DecodeTunables, ATunableWithoutAValueIsDamage) {
  std::vector<Tunable> tunables;
  decode(R"([["W", [2, 4]], ["FUSED", [0, 1], "fused-gate"]])", tunables);
  EXPECT_EQ(tunables[1].technique, "fused-gate");
  EXPECT_THROW(decode(R"([["W", []]])", tunables), EnvironmentError);
}

}  // namespace
}  // namespace apo
