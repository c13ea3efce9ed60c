// tests/exchange/traces_test.cpp - every outcome has its status, and nothing is invented.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/sources.h"
#include "harness/core/text.h"
#include "harness/exchange/exchange.h"
#include "harness/families/known_families.h"
#include "journal/facts/experiments.h"
#include "journal/facts/variants.h"
#include "tests/families/family_text.h"
#include "tests/loop/export/dispatch_fixture.h"

namespace apo {
namespace {

class Traced : public ::testing::Test {
 protected:
  void judge(Outcome outcome, Reason reason, std::vector<Round> rounds = {}) {
    const test::DispatchJournal::Accept accept;
    const Catalogue& catalogue = test::shipped_variants();
    Experiment experiment;
    experiment.campaign = campaign_;
    experiment.candidate = catalogue.configuration(accept.candidate);
    experiment.incumbent = catalogue.configuration(accept.baseline);
    experiment.family = family_;
    experiment.workload_class = "n32";
    experiment.workloads = {workload_};
    experiment.candidate_source_hash =
        source_hash_.empty() ? catalogue.get(experiment.candidate.variant).source_hash : source_hash_;
    experiment.incumbent_source_hash = catalogue.get(experiment.incumbent.variant).source_hash;
    experiment.outcome = outcome;
    experiment.finished_at = "2026-02-03T04:05:06Z";
    experiment.judgement = Judgement{.verdict = Verdict::reverted, .reason = reason, .sentence = "so it is"};
    experiment.id = begin_experiment(fixture_.journal(), experiment);
    experiment.gates = gates_;
    if (outcome != Outcome::valid && gates_.empty()) {
      experiment.gates.push_back({.gate = "correctness", .outcome = outcome, .evidence = "y[3] is NaN"});
    }
    experiment.rounds = std::move(rounds);
    finish_experiment(fixture_.journal(), experiment);
  }
  // The family of a block, as if it were registered; its variant is judged next.
  void add_family(const std::string& name, const std::string& block, const std::string& workload) {
    const TemporaryFolder folder;
    write_file_atomically(folder.path() / (name + ".h"), block);
    add_family_file((folder.path() / (name + ".h")).string(), {});
    family_ = name;
    workload_ = workload;
  }
  nlohmann::json last() {
    const std::string lines = traces(fixture_.journal(), "", APO_SOURCE_FOLDER).lines;
    return lines.empty() ? nlohmann::json() : nlohmann::json::parse(split(trim(lines), '\n').back());
  }

  std::string family_ = "e88_backward";
  std::string workload_ = "b8_t128_h83_n32";
  std::string source_hash_;  // empty: that of the shipped candidate
  std::vector<GateResult> gates_;
  test::DispatchJournal fixture_;
  std::int64_t campaign_ = fixture_.campaign({});
};

TEST_F(Traced, EveryOutcomeHasItsStatus) {
  for (const auto& [outcome, status] :
       std::vector<std::pair<Outcome, std::string>>{{Outcome::build_failed, "COMPILE_ERROR"},
                                                    {Outcome::incorrect, "INCORRECT_NUMERICAL"},
                                                    {Outcome::faulted, "RUNTIME_ERROR"},
                                                    {Outcome::timed_out, "TIMEOUT"},
                                                    {Outcome::unstable_clock, "REWARD_HACK"}}) {
    judge(outcome, Reason::gate_failed);
    const nlohmann::json evaluation = last()["evaluation"];
    EXPECT_EQ(evaluation["status"], status);
    EXPECT_EQ(evaluation["log"], "correctness: y[3] is NaN");
    EXPECT_TRUE(evaluation["performance"].is_null());
    EXPECT_EQ(evaluation["correctness"].is_null(), outcome != Outcome::incorrect);
  }
}

TEST_F(Traced, AFailureThatIsNobodysIsNotTold) {
  for (const Outcome outcome : {Outcome::incorrect, Outcome::unstable_clock}) {
    judge(outcome, Reason::interrupted);
    EXPECT_TRUE(last().is_null());
  }
}

TEST_F(Traced, WhatTheJournalDoesNotHoldIsNull) {
  judge(Outcome::valid, Reason::regression);
  const nlohmann::json line = last();
  EXPECT_EQ(line["definition"], "e88_backward");
  EXPECT_EQ(line["workload"]["uuid"], "b8_t128_h83_n32");
  EXPECT_EQ(line["workload"]["axes"]["H"], 83);
  EXPECT_EQ(line["evaluation"]["status"], "PASSED");
  EXPECT_EQ(line["evaluation"]["environment"]["hardware"], "NVIDIA H200");
  EXPECT_TRUE(line["evaluation"]["performance"]["latency_ms"].is_null());
  EXPECT_TRUE(line["evaluation"]["performance"]["speedup_factor"].is_null());
  EXPECT_TRUE(line["evaluation"]["correctness"]["max_absolute_error"].is_null()) << "of an older journal";
}

TEST_F(Traced, ErrorsAreThoseOfTheWorkloadElseOfTheOneThatWasWrong) {
  gates_ = {{.gate = "correctness",
             .errors = {{.workload = "b2_t64_h4_n32", .max_absolute = 2, .max_relative = 0.5, .has_inf = true},
                        {.workload = workload_, .max_absolute = 0.25, .max_relative = 0.125}}}};
  judge(Outcome::valid, Reason::regression);
  nlohmann::json errors = last()["evaluation"]["correctness"];
  EXPECT_EQ(errors["max_absolute_error"], 0.25);
  EXPECT_EQ(errors["max_relative_error"], 0.125);
  EXPECT_EQ(errors["has_inf"], false);
  gates_.front().outcome = Outcome::incorrect;
  gates_.front().errors.pop_back();
  judge(Outcome::incorrect, Reason::gate_failed);
  errors = last()["evaluation"]["correctness"];
  EXPECT_EQ(errors["max_absolute_error"], 2);
  EXPECT_EQ(errors["has_inf"], true);
  EXPECT_EQ(errors["has_nan"], false);
}

TEST_F(Traced, TimesAreMediansOfRoundsThatCount) {
  std::vector<Round> rounds;
  for (int i = 0; i < 3; ++i) {
    Round round{.stage = RoundStage::search, .index = i, .effect = std::log(2.0)};
    round.workloads.push_back({.workload = "b8_t128_h83_n32",
                               .effect = std::log(2.0),
                               .incumbent_median_ns = 2e6 + i * 1e5,
                               .candidate_median_ns = 1e6 + i * 1e5});
    round.void_why = i == 2 ? "the machine was busy" : "";
    rounds.push_back(round);
  }
  judge(Outcome::valid, Reason::regression, rounds);
  const nlohmann::json performance = last()["evaluation"]["performance"];
  EXPECT_NEAR(performance["latency_ms"].get<double>(), 1.05, 1e-9);
  EXPECT_NEAR(performance["reference_latency_ms"].get<double>(), 2.05, 1e-9);
  EXPECT_NEAR(performance["speedup_factor"].get<double>(), 2, 1e-9);
}

TEST_F(Traced, AnImportedFamilyHasTheNamesOfWhereItCameFrom) {
  add_family("traced",
             "// apo:family traced\n// apo:origin traced-v1.0\n// apo:axis n 1..9\n// apo:axis k 3..3 "
             "specialised\n// apo:scalar eps f32 1e-5\n// apo:input x f32[n]\n// apo:output y f32[n]\n// "
             "apo:workload w_1234 small n=3 k=3\n// apo:origin w_1234 1234-abcd\n",
             "w_1234");
  Variant variant = test::shipped_variants().get("copy/simple");
  variant.family = "traced";
  add_variant(fixture_.journal(), variant);
  judge(Outcome::valid, Reason::regression);
  const nlohmann::json line = last();
  EXPECT_EQ(line["definition"], "traced-v1.0");
  EXPECT_EQ(line["workload"]["uuid"], "1234-abcd");
  EXPECT_EQ(line["workload"]["axes"].dump(), R"({"n":3})");
  EXPECT_EQ(line["workload"]["inputs"].dump(), R"({"eps":{"type":"scalar","value":1e-05},"x":{"type":"random"}})");
}

TEST_F(Traced, ResultsOfOtherTensorsThanTheDefinitionHasAreCounted) {
  const std::string text =
      "// apo:family retyped\n// apo:axis n 1..9\n// apo:input x f32[n]\n// apo:output y f32[n]\n"
      "// apo:workload w small n=3\n";
  add_family("retyped", text, "w");
  const auto judge_with = [&](const std::string& contract) {
    Variant variant = test::shipped_variants().get("copy/simple");
    variant.family = "retyped";
    variant.contract = contract;
    variant.source_hash = source_identity(variant);
    add_variant(fixture_.journal(), variant);
    source_hash_ = variant.source_hash;
    judge(Outcome::valid, Reason::regression);
    return traces(fixture_.journal(), "retyped", APO_SOURCE_FOLDER).of_other_tensors;
  };
  EXPECT_TRUE(judge_with(text).empty());
  EXPECT_TRUE(judge_with(text + "// a remark\n").empty());
  EXPECT_EQ(judge_with(replaced(text, "x f32", "x bf16")),
            (std::map<std::string, int>{
                {"retyped was judged with x bf16[n], y f32[n], and its definition has x f32[n], y f32[n]", 1}}));
}

TEST_F(Traced, TheSameCodeIsNoResult) {
  judge(Outcome::no_change, Reason::gate_failed);
  const Traces all = traces(fixture_.journal(), "", APO_SOURCE_FOLDER);
  EXPECT_TRUE(all.lines.empty());
  EXPECT_EQ(all.left_out, 1u);
  EXPECT_TRUE(traces(fixture_.journal(), "copy", APO_SOURCE_FOLDER).lines.empty());
}

}  // namespace
}  // namespace apo
