// tests/research/remedy_test.cpp - what a variant may gain by what it removes, and what a technique needs.
#include "harness/research/remedy.h"

#include <gtest/gtest.h>

#include "harness/research/research.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::inputs;
using fixtures::variant;

double most_of(const ResearchInputs& in, const std::vector<Bottleneck>& bottlenecks, const Variant& one) {
  return remedy_of(in, bottlenecks, {.variant = &one, .configuration = {one.id(), {}}}).bound;
}

// libm takes nine tenths, and a 50th of that is left; what attacks nothing is bounded by the floor alone.
TEST(Remedy, IsWorthAllThatItRemovesTogether) {
  const ResearchInputs in = inputs({variant("fast", "fast-tanh", 2, 4), variant("odd", "padded-cache", 2, 4)});
  const std::vector<Bottleneck> bottlenecks = research(in).bottlenecks;
  EXPECT_NEAR(most_of(in, bottlenecks, in.variants[0].variant), 1 / (0.1 + 0.9 / 50), 1e-6);
  EXPECT_DOUBLE_EQ(most_of(in, bottlenecks, in.variants[1].variant), 100);
}

TEST(Remedy, IncludesWhatAncestorsAttackUnlessTheIncumbentIsOneOfThem) {
  ResearchInputs in = inputs({variant("fast", "fast-tanh", 2, 4), variant("odd", "padded-cache", 2, 4, "toy/fast")});
  const std::vector<Bottleneck> bottlenecks = research(in).bottlenecks;
  const Variant odd = in.variants[1].variant;
  const double all = most_of(in, bottlenecks, odd);
  EXPECT_NEAR(all, 1 / (0.1 + 0.9 / 50), 1e-6) << "libm's functions go with its parent's technique";
  in.variants[0].variant.parent = "toy/odd";
  EXPECT_DOUBLE_EQ(most_of(in, bottlenecks, odd), all) << "ancestry that bites its tail is no trouble";
  in.diagnosis.incumbent = in.variants[0].variant;
  in.incumbent.variant = "toy/fast";
  EXPECT_DOUBLE_EQ(most_of(in, bottlenecks, odd), 100) << "the incumbent has it already";
}

// 9 of 10 ms are the floor of arithmetic in vectors; in matrices, ten times as fast, the copies' 2 ms bind.
TEST(Remedy, OfTensorCoresHasTheirFloor) {
  ResearchInputs in = inputs({variant("tensors", "tensor-core", 2, 4), variant("tiled", "lane-tiling", 2, 4)});
  for (RegisteredVariant& registered : in.variants) {
    registered.variant.target = Target::cuda;
  }
  Profile& profile = in.diagnosis.profile;
  profile.floor_roof = "fp32_fma";
  profile.floor_ns = 0.9 * profile.time_ns;
  profile.floor_fraction = 0.9;
  profile.metrics.push_back({.name = "floor_bytes", .value = 0.2 * profile.time_ns});
  profile.roofs.push_back(fixtures::roof("fp32_fma", 1e13));
  profile.roofs.push_back(fixtures::roof("tensor_bf16", 1e14));
  const Variant &tensors = in.variants[0].variant, &tiled = in.variants[1].variant;
  EXPECT_NEAR(floor_bound(in, {.variant = &tensors}), 5, 1e-9);
  EXPECT_NEAR(floor_bound(in, {.variant = &tiled}), 1 / 0.9, 1e-9);
  profile.floor_roof = "memory_copy";
  EXPECT_NEAR(floor_bound(in, {.variant = &tensors}), 1 / 0.9, 1e-9) << "no arithmetic binds";
}

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
