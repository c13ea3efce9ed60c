// tests/worker/protocol/profile_results_test.cpp - reports of the profilers survive the way to the parent.
#include "harness/worker/protocol/profile_results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace apo {
namespace {

TEST(CounterReport, SurvivesTheWayToTheParent) {
  const CounterReport report{
      .metrics = {"a.sum", "b.pct"},
      .launches = {{.kernel = "k", .values = {1e300, std::nan("")}}, {.kernel = "l \"\n", .values = {0.1, 2}}},
      .refused = {{.metric = "c", .why = "d"}},
      .clamped = {"b.pct"},
      .passes = 4,
      .chip = "GH100",
      .missing = "m",
      .steps = {{.what = "session", .seconds = 0.25}, {.what = "pass 1 start", .seconds = 0.125}}};
  const auto back = decode_counters(encode(report));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->metrics, report.metrics);
  ASSERT_EQ(back->launches.size(), 2U);
  EXPECT_EQ(back->launches[0].values[0], 1e300);
  EXPECT_TRUE(std::isnan(back->launches[0].values[1]));
  EXPECT_EQ(back->launches[1].kernel, "l \"\n");
  EXPECT_EQ(back->refused.front().why, "d");
  EXPECT_EQ(back->clamped, report.clamped);
  EXPECT_EQ(back->passes, 4);
  EXPECT_EQ(back->chip + back->missing, "GH100m");
  ASSERT_EQ(back->steps.size(), 2U);
  EXPECT_EQ(back->steps[1].what, "pass 1 start");
  EXPECT_EQ(back->steps[1].seconds, 0.125);
}

TEST(CounterReport, WithAValueTooFewIsRefused) {
  EXPECT_FALSE(decode_counters(encode(CounterReport{.metrics = {"a", "b"}, .launches = {{"k", {1}}}})));
  EXPECT_FALSE(decode_counters("{}"));
  EXPECT_FALSE(decode_counters("not JSON"));
}

TEST(SampleReport, SurvivesTheWayToTheParent) {
  const SampleReport report{.samples = {{.kernel = "k",
                                         .pc_offset = 1LL << 40,
                                         .file = "variant.cu",
                                         .line = 7,
                                         .stall = "barrier",
                                         .samples = 1LL << 33,
                                         .opcode = "BAR",
                                         .cause_file = "b.cu",
                                         .cause_line = 6,
                                         .inlined = "low (b.h:2)"}},
                            .total = 9,
                            .dropped = 2,
                            .missing = "\xff"};
  const auto back = decode_samples(encode(report));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->samples, report.samples);
  EXPECT_EQ(back->total + back->dropped, 11);
  EXPECT_FALSE(decode_samples(R"({"samples":[[1]],"total":0,"dropped":0,"missing":""})"));
}

TEST(ProfileResults, CountsOfInstructionsComeBackAsTheyWere) {
  InstructionReport report{.kernels = {"k", "k"}, .missing = "no"};
  report.instructions.push_back({.kernel = "k",
                                 .pc_offset = 32,
                                 .opcode = "LDG",
                                 .file = "a.cu",
                                 .line = 4,
                                 .values = std::vector<std::int64_t>(kCountedKinds, 1LL << 40)});
  const auto back = decode_instructions(encode(report));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->kernels, report.kernels);
  EXPECT_EQ(back->missing, "no");
  ASSERT_EQ(back->instructions.size(), 1U);
  EXPECT_EQ(back->instructions[0].values, report.instructions[0].values);
  EXPECT_EQ(back->instructions[0].opcode + back->instructions[0].file, "LDGa.cu");
  EXPECT_FALSE(decode_instructions(R"({"instructions":[["k",0,"","",0,[1,2]]],"kernels":[],"missing":""})"))
      << "it has too few values for what would be read from it";
  EXPECT_FALSE(decode_instructions("{}"));
}

}  // namespace
}  // namespace apo
