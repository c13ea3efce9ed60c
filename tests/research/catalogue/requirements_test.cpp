// tests/research/catalogue/requirements_test.cpp - preconditions are evaluated over axes, machine and profile.
#include "harness/research/catalogue/requirements.h"

#include <gtest/gtest.h>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

ResearchInputs here() {
  ResearchInputs in = fixtures::inputs({});
  in.diagnosis.axes = {{"N", 128}, {"B", 4}};
  in.isa = "sm_90";
  return in;
}

Technique needing(const std::string& expression, std::vector<std::string> families = {}) {
  return {.name = "a", .families = std::move(families), .requires_expression = expression};
}

TEST(Requirements, AreEvaluatedAndSayWhatIsDifferent) {
  EXPECT_EQ(why_not_here(needing("N <= 32", {"toy"}), here()), "it needs N <= 32, and here N is 128");
  EXPECT_EQ(why_not_here(needing("N <= 128 && B <= 4", {"toy"}), here()), "");
  EXPECT_EQ(why_not_here(needing("SM >= 80"), here()), "");
  EXPECT_EQ(why_not_here(needing("SM == 100"), here()), "it needs SM == 100, and here SM is 90");
  EXPECT_EQ(why_not_here(needing(""), here()), "");
}

TEST(Requirements, OnAMissingFactAreNotInTheWay) {
  EXPECT_EQ(why_not_here(needing("REGISTERS > 128"), here()), "");
  ResearchInputs in = here();
  in.diagnosis.profile.metrics.push_back({.name = "registers", .value = 64});
  EXPECT_EQ(why_not_here(needing("REGISTERS > 128"), in), "it needs REGISTERS > 128, and here REGISTERS is 64");
}

TEST(Requirements, ATechniqueOfOtherFamiliesIsNoIdeaForThisOneAndCountsWhereItIsWritten) {
  EXPECT_EQ(why_not_now(needing("N <= 32", {"e88_backward"}), here()), "it is known of e88_backward alone");
  EXPECT_EQ(why_not_here(needing("N <= 32", {"e88_backward"}), here()), "");
}

TEST(Requirements, WhatTheIncumbentHasMayBeInTheWayOrNeeded) {
  ResearchInputs in = here();
  in.diagnosis.incumbent.techniques = {"segment-replay"};
  EXPECT_EQ(why_not_now({.name = "a", .excludes = {"segment-replay"}}, in),
            "it cannot be combined with segment-replay, which the incumbent has");
  EXPECT_EQ(why_not_now({.name = "a", .builds_on = {"segment-replay"}}, in), "");
  EXPECT_EQ(why_not_now({.name = "a", .builds_on = {"b"}}, in), "it builds on b, which the incumbent lacks");
}

}  // namespace
}  // namespace apo
