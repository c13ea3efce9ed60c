// tests/core/json/records_json_test.cpp - what a document says, and that it never says NaN.
#include "harness/core/json/records_json.h"

#include <gtest/gtest.h>

#include <limits>

namespace apo {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Judgement an_accept() {
  return {.verdict = Verdict::accepted,
          .reason = Reason::faster,
          .effect = std::log(1.25),
          .lower = std::log(1.2),
          .upper = std::log(1.3),
          .rounds = 14,
          .minimum_detectable = std::log(1.01),
          .incumbent_ns = 200,
          .candidate_ns = 160,
          .preset = "standard",
          .cache_policy = CachePolicy::warm};
}

TEST(RecordsJson, JudgementHasRatiosAndTheWordsOfItsConditions) {
  const Json document = to_document(an_accept());
  EXPECT_DOUBLE_EQ(document["speedup"], 1.25);
  EXPECT_DOUBLE_EQ(document["minimum_detectable"], 1.01);
  EXPECT_EQ(document["minimum_claim"], nullptr) << "no claim was refused";
  EXPECT_EQ(document["cache_policy"], "warm");
  EXPECT_EQ(document["judge_preset"], "standard");
  EXPECT_EQ(document["verdict"], "accepted");
}

TEST(RecordsJson, WhatWasNeverTimedHasNoNumbers) {
  Judgement stopped = an_accept();
  stopped.reason = Reason::gate_failed;
  stopped.cache_policy.reset();
  const Json document = to_document(stopped);
  for (const char* key : {"speedup", "lower", "upper", "confidence", "incumbent_ns", "candidate_ns", "cache_policy"}) {
    EXPECT_EQ(document[key], nullptr) << key;
  }
}

TEST(RecordsJson, NumbersThatAreNotFiniteAreNull) {
  Profile profile{.time_ns = kInfinity, .floor_fraction = kNaN};
  profile.metrics = {{.name = "gflops", .value = kNaN, .lower = kInfinity}};
  profile.roofs = {{.name = "fp32", .value = kInfinity}};
  const Json document = to_document(profile);
  EXPECT_EQ(document["time_ns"], nullptr);
  EXPECT_EQ(document["floor_ns"], nullptr) << "0 was not measured";
  EXPECT_EQ(document["floor_fraction"], nullptr);
  EXPECT_EQ(document["metrics"][0]["value"], nullptr);
  EXPECT_EQ(document["metrics"][0]["lower"], nullptr);
  EXPECT_EQ(document["roofs"][0]["value"], nullptr);
  EXPECT_EQ(to_document(Lesson{.speedup = kNaN})["speedup"], nullptr);
  EXPECT_EQ(to_document(Candidate{.score = kInfinity})["score"], nullptr);
}

TEST(RecordsJson, AWrongElementIsOneObjectOfItsGate) {
  GateResult gate{.gate = "correctness", .outcome = Outcome::incorrect};
  EXPECT_FALSE(to_document(gate).contains("wrong"));
  gate.wrong = WrongElement{.workload = "n4k",
                            .regime = "typical",
                            .tensor = "y",
                            .axes = {"n"},
                            .index = {7},
                            .expected = 2,
                            .got = kNaN,
                            .bound = 0.5,
                            .inputs = {{.tensor = "x", .index = {7}, .value = kInfinity}}};
  Json wrong = to_document(gate)["wrong"];
  EXPECT_EQ(wrong["got"], nullptr);
  EXPECT_EQ(wrong["inputs"][0], (Json{{"name", "x"}, {"index", {7}}, {"value", nullptr}}));
  EXPECT_EQ(wrong["seed"], nullptr) << "it is secret";
  gate.wrong->seed = 18446744073709551615U;
  EXPECT_EQ(to_document(gate)["wrong"]["seed"], 18446744073709551615U);
}

TEST(RecordsJson, RoundHasWhatItReadAndNothingElse) {
  Round round{.stage = RoundStage::confirm, .void_why = "the clock went down"};
  round.environment = {.layout = Layout::fixed, .second_clock = false, .throttle_bits = 4};
  round.workloads = {{.workload = "n4k", .warmup = {Block{}}, .checks = {.fresh_incumbent = 1.5}}};
  const Json document = to_document(round);
  EXPECT_EQ(document["stage"], "confirm");
  EXPECT_EQ(document["effect"], nullptr) << "a void round has none";
  EXPECT_EQ(document["environment"], Json({{"random_layout", false}, {"second_clock", false}, {"throttle_bits", 4}}));
  EXPECT_EQ(document["workloads"][0]["checks"], Json({{"fresh_ns_incumbent", 1.5}}));
  EXPECT_FALSE(document["workloads"][0].contains("warmup"));
  EXPECT_TRUE(to_document_with_samples(round)["workloads"][0].contains("warmup"));
}

TEST(RecordsJson, BuildNamesItsCompilerAndTheCompilersVersionApart) {
  const Json document = to_document(Build{.toolchain = {"/usr/bin/g++", "g++ 12.2.0"}});
  EXPECT_EQ(document["toolchain"], Json({{"compiler", "/usr/bin/g++"}, {"version", "g++ 12.2.0"}}));
}

TEST(RecordsJson, DefaultBandIsNoPrediction) {
  EXPECT_EQ(to_document(Prediction{}), nullptr);
  EXPECT_EQ(to_document(Prediction{.low = 1.5, .high = 2})["relative_to"], "parent");
}

TEST(RecordsJson, SeedOfAnOpenCampaignIsSecret) {
  Campaign campaign{.policy = {.seed = 7, .layout = std::nullopt}};
  EXPECT_EQ(to_document(campaign)["seed"], nullptr);
  EXPECT_EQ(to_document(campaign)["layout"], nullptr);
  campaign.state = CampaignState::finished;
  EXPECT_EQ(to_document(campaign)["seed"], 7);
}

}  // namespace
}  // namespace apo
