// tests/worker/protocol/profile_results_test.cpp - reports of the profilers survive the way to the parent.
#include "harness/worker/protocol/profile_results.h"

#include <gtest/gtest.h>

#include "tests/core/json/round_trip.h"

namespace apo {
namespace {

TEST(ProfileResults, SurviveTheWayToTheParent) {
  const auto counters = filled<CounterReport>();
  EXPECT_EQ(decode_counters(encode(counters)), counters);
  const auto samples = filled<SampleReport>();
  EXPECT_EQ(decode_samples(encode(samples)), samples);
  auto instructions = filled<InstructionReport>();
  for (InstructionCount& one : instructions.instructions) {
    one.values.resize(kCountedKinds, 1LL << 40);
  }
  EXPECT_EQ(decode_instructions(encode(instructions)), instructions);
}

TEST(ProfileResults, WithAValueTooFewAreRefused) {
  EXPECT_FALSE(decode_counters(encode(CounterReport{.metrics = {"a", "b"}, .launches = {{"k", {1}}}})));
  EXPECT_FALSE(decode_instructions(encode(InstructionReport{.instructions = {{.kernel = "k", .values = {1, 2}}}})));
}

TEST(ProfileResults, OfAnotherFormAreRefused) {
  for (const char* text : {"{}", "[]", "not JSON", R"({"samples":[[1]],"total":0,"dropped":0,"missing":""})"}) {
    EXPECT_FALSE(decode_counters(text)) << text;
    EXPECT_FALSE(decode_samples(text)) << text;
    EXPECT_FALSE(decode_instructions(text)) << text;
  }
}

}  // namespace
}  // namespace apo
