// tests/applications/expectation_test.cpp - the kernel's effect and share against the measured step.
#include "harness/applications/expectation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/core/text.h"
#include "tests/text.h"

namespace apo {
namespace {

std::string row(const std::string& label, const std::string& workload_class, const std::string& evidence) {
  return fmt::format(R"({{"class": {}, "devices": "compute_capability == 90", "configuration": {{"label": "{}"}},
    "evidence": {}}})",
                     workload_class.empty() ? "null" : "\"" + workload_class + "\"", label, evidence);
}

const std::string kUnmeasured = R"({"kind": "unmeasured"})";

std::string measured(const std::string& replaced, const std::string& baseline) {
  return fmt::format(R"({{"kind": "measured", "replaced": {{"label": "{}"}},
    "judgement": {{"speedup": 1.5, "lower": 1.4, "upper": 1.6, "cache_policy": "cold"}},
    "certifications": [{{"baseline": {{"label": "{}"}}, "cache_policy": "warm", "speedup": 9, "lower": 8, "upper": 10}},
                       {{"baseline": {{"label": "{}"}}, "cache_policy": "cold", "speedup": 3, "lower": 2.5, "upper": 4}}]}})",
                     replaced, baseline, baseline);
}

std::vector<std::string> dispatch_of(const std::string& rows) {
  return {R"({"families": [{"family": "f", "devices": [{"device": {"id": "other", "model": "M"}, "rows": []},
                                                      {"device": {"id": "gpu", "model": "H"}, "rows": [)" +
          rows + "]}]}]}"};
}

const Machine kGpu = {.id = "gpu", .model = "H", .isa = "sm_90"};
const std::string kSimple = row("f/simple", "", kUnmeasured);

// Two steps, each 20 ns of the kernels: 40 % of a step of 50 ns.
constexpr double kStep = 50e-9;
RecordedSteps two_steps() {
  RecordedSteps recorded{.profile = 4, .steps = 2};
  recorded.summary.work = {{.work = {.name = "f_kernel", .calls = 2, .total_ns = 40}},
                           {.work = {.name = "gemm", .calls = 2, .total_ns = 60}}};
  return recorded;
}

Expectation threefold() {
  return kernel_effect(dispatch_of(kSimple),
                       dispatch_of(row("f/best", "c", measured("f/old", "f/simple")) + "," + kSimple), kGpu);
}

TEST(Expectation, TheKernelsEffectIsTheCertifiedOneAgainstWhatAHas) {
  const Expectation effect = threefold();
  EXPECT_EQ(effect.missing, "");
  EXPECT_EQ(effect.kernel, "f/best over f/simple");
  EXPECT_DOUBLE_EQ(effect.kernel_speedup, 3.0);
  EXPECT_DOUBLE_EQ(effect.kernel_lower, 2.5);
}

TEST(Expectation, ATableServesOtherDevicesOfItsComputeCapability) {
  const auto missing_for = [](const Machine& machine) {
    return kernel_effect(dispatch_of(kSimple), dispatch_of(row("f/best", "c", measured("f/old", "f/simple"))), machine)
        .missing;
  };
  EXPECT_EQ(missing_for({.id = "another", .model = "H", .isa = "sm_90"}), "");
  EXPECT_EQ(missing_for({.id = "another", .model = "N", .isa = "sm_90"}), "");
  expect_contains(missing_for({.id = "another", .model = "N", .isa = "sm_80"}), "do not differ");
}

TEST(Expectation, WithoutACertificateItIsThatOfTheJudgementAgainstWhatAHas) {
  const Expectation effect = kernel_effect(dispatch_of(row("f/old", "c", kUnmeasured)),
                                           dispatch_of(row("f/best", "c", measured("f/old", "f/simple"))), kGpu);
  EXPECT_DOUBLE_EQ(effect.kernel_speedup, 1.5);
}

TEST(Expectation, WhatIsNotKnownIsSaid) {
  expect_contains(kernel_effect(dispatch_of(kSimple), dispatch_of(kSimple), kGpu).missing, "do not differ");
  expect_contains(kernel_effect(dispatch_of(kSimple), dispatch_of(row("f/new", "", kUnmeasured)), kGpu).missing,
                  "nothing in B's table says");
  expect_contains(kernel_effect({}, dispatch_of(kSimple), kGpu).missing, "no document");
  const Figure measured{};
  EXPECT_NE(expectation_of(threefold(), "", two_steps(), kStep, &measured).missing, "");
  expect_contains(expectation_of(threefold(), "f_", {.missing = "no recorder"}, kStep, &measured).missing,
                  "no recorder");
  expect_contains(expectation_of(threefold(), "absent", two_steps(), kStep, &measured).missing, "'absent'");
}

TEST(Expectation, ATableHasADocumentAFamily) {
  const auto with_other = [](std::vector<std::string> documents, const std::string& configuration) {
    const std::string other = dispatch_of(row(configuration, "", kUnmeasured)).front();
    documents.push_back(replace_all(other, R"("family": "f")", R"("family": "g")"));
    return documents;
  };
  const auto best = dispatch_of(row("f/best", "c", measured("f/old", "f/simple")));
  EXPECT_EQ(kernel_effect(with_other(dispatch_of(kSimple), "g/a"), with_other(best, "g/a"), kGpu).missing, "");
  expect_contains(kernel_effect(with_other(dispatch_of(kSimple), "g/a"), with_other(best, "g/b"), kGpu).missing,
                  "differ in 2 rows");
}

TEST(Expectation, AmdahlsLawGivesTheStepAndItsInterval) {
  const Figure measured{.change = 1.35, .lower = 1.3, .upper = 1.4};
  const Expectation expectation = expectation_of(threefold(), "f_kernel", two_steps(), kStep, &measured);
  EXPECT_EQ(expectation.missing, "");
  EXPECT_DOUBLE_EQ(expectation.share, 0.4);
  EXPECT_DOUBLE_EQ(expectation.speedup, 1 / (0.6 + 0.4 / 3));
  EXPECT_LT(expectation.lower, expectation.speedup);
  EXPECT_GT(expectation.upper, expectation.speedup);
  EXPECT_TRUE(expectation.agrees);
}

TEST(Expectation, ADisagreementIsNamed) {
  const Figure slower{.change = 0.9, .lower = 0.88, .upper = 0.92};
  const Expectation expectation = expectation_of(threefold(), "f_kernel", two_steps(), kStep, &slower);
  EXPECT_FALSE(expectation.agrees);
  expect_contains(note_text({.kind = ComparisonKind::application, .expectation = expectation}), "DISAGREES");
}

}  // namespace
}  // namespace apo
