// tests/loop/applications/expectation_test.cpp - the kernel's effect and share against the measured step.
#include "harness/loop/applications/expectation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace apo {
namespace {

std::string row(const std::string& label, const std::string& workload_class, const std::string& evidence) {
  return fmt::format(R"({{"class": {}, "configuration": {{"label": "{}"}}, "evidence": {}}})",
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

std::string dispatch_of(const std::string& rows) {
  return R"({"families": [{"family": "f", "devices": [{"device": {"id": "other"}, "rows": []},
                                                      {"device": {"id": "gpu"}, "rows": [)" +
         rows + "]}]}]}";
}

const std::string kSimple = row("f/simple", "", kUnmeasured);

ApplicationRow a_profile() {
  ApplicationRow profile{.id = 4, .command = "train"};
  profile.summary.total_ns = 100;
  profile.summary.span_ns = 100;
  profile.summary.work = {{.work = {.name = "f_kernel", .calls = 1, .total_ns = 40}, .share = 0.4},
                          {.work = {.name = "gemm", .calls = 1, .total_ns = 60}, .share = 0.6}};
  return profile;
}

KernelEffect threefold() {
  return kernel_effect(dispatch_of(kSimple),
                       dispatch_of(row("f/best", "c", measured("f/old", "f/simple")) + "," + kSimple), "gpu");
}

TEST(Expectation, TheKernelsEffectIsTheCertifiedOneAgainstWhatAHas) {
  const KernelEffect effect = threefold();
  EXPECT_EQ(effect.missing, "");
  EXPECT_EQ(effect.kernel, "f/best over f/simple");
  EXPECT_DOUBLE_EQ(effect.effect, std::log(3.0));
  EXPECT_DOUBLE_EQ(effect.lower, std::log(2.5));
}

TEST(Expectation, WithoutACertificateItIsThatOfTheJudgementAgainstWhatAHas) {
  const KernelEffect effect = kernel_effect(dispatch_of(row("f/old", "c", kUnmeasured)),
                                            dispatch_of(row("f/best", "c", measured("f/old", "f/simple"))), "gpu");
  EXPECT_DOUBLE_EQ(effect.effect, std::log(1.5));
}

TEST(Expectation, WhatIsNotKnownIsSaid) {
  EXPECT_NE(kernel_effect(dispatch_of(kSimple), dispatch_of(kSimple), "gpu").missing.find("same kernels"),
            std::string::npos);
  EXPECT_NE(kernel_effect(dispatch_of(kSimple), dispatch_of(row("f/new", "", kUnmeasured)), "gpu")
                .missing.find("nothing in B's table says"),
            std::string::npos);
  EXPECT_NE(kernel_effect("", dispatch_of(kSimple), "gpu").missing.find("dispatch.json"), std::string::npos);
  const SpeedEffect measured{};
  EXPECT_NE(expectation_of(threefold(), "", a_profile(), &measured).missing, "");
  EXPECT_NE(expectation_of(threefold(), "f_", std::nullopt, &measured).missing.find("apo profile"), std::string::npos);
  EXPECT_NE(expectation_of(threefold(), "absent", a_profile(), &measured).missing.find("'absent'"), std::string::npos);
}

TEST(Expectation, AmdahlsLawGivesTheStepAndItsInterval) {
  const SpeedEffect measured{.effect = std::log(1.35), .lower = std::log(1.3), .upper = std::log(1.4)};
  const ApplicationExpectation expectation = expectation_of(threefold(), "f_kernel", a_profile(), &measured);
  EXPECT_EQ(expectation.missing, "");
  EXPECT_DOUBLE_EQ(expectation.share, 0.4);
  EXPECT_DOUBLE_EQ(std::exp(expectation.effect), 1 / (0.6 + 0.4 / 3));
  EXPECT_LT(expectation.lower, expectation.effect);
  EXPECT_GT(expectation.upper, expectation.effect);
  EXPECT_TRUE(expectation.agrees);
}

TEST(Expectation, ADisagreementIsNamed) {
  const SpeedEffect slower{.effect = -0.1, .lower = -0.12, .upper = -0.08};
  const ApplicationExpectation expectation = expectation_of(threefold(), "f_kernel", a_profile(), &slower);
  EXPECT_FALSE(expectation.agrees);
  EXPECT_NE(expectation_text(expectation).find("DISAGREES"), std::string::npos);
}

}  // namespace
}  // namespace apo
