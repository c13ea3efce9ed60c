// tests/research/proposers/brief_test.cpp - the document that a proposer gets.
#include "harness/research/proposers/brief.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::inputs;
using fixtures::result;
using fixtures::variant;
using Json = nlohmann::json;

Family toy() {
  Family family;
  family.name = "toy";
  family.axes = {{.name = "n", .meaning = "elements", .min = 1, .max = 100}};
  family.tensors = {{.name = "x", .dtype = DType::f32, .shape_text = "[n]"}};
  return family;
}

ResearchInputs toy_inputs() {
  ResearchInputs in = inputs({variant("fast", "fast-tanh", 1.5, 2)});
  in.diagnosis.axes = {{"n", 7}};
  in.diagnosis.incumbent.source = "void toy() {}\n";
  in.diagnosis.incumbent.headers = {{.name = "toy.h", .text = "#pragma once\n", .path = ""}};
  return in;
}

Json document(const ResearchInputs& in, const std::optional<BriefRequest>& request = std::nullopt) {
  const Family family = toy();
  return Json::parse(brief_to_json(
      research(in), in, {.family = family, .machine = {}, .signature = "void toy()", .argument_header = "struct"},
      request));
}

TEST(Brief, IsOneDocumentWithAllThatAnAuthorNeeds) {
  ResearchInputs in = toy_inputs();
  in.variants[0].variant.name = "bad\xff";  // not UTF-8
  const Json brief = document(in);
  EXPECT_EQ(brief["document"], "brief");
  EXPECT_EQ(brief["sources"]["simple"], "void toy() {}\n");
  EXPECT_EQ(brief["sources"]["toy.h"], "#pragma once\n");
  EXPECT_EQ(brief["contract"]["axes"][0]["value"], 7);
  EXPECT_EQ(brief["contract"]["tensors"][0]["shape"], "[n]");
  EXPECT_EQ(brief["signature"], "void toy()");
  EXPECT_EQ(brief["argument_header"], "struct");
  EXPECT_GT(brief["ranked"][0]["prediction"]["high"], 2.0);
  EXPECT_EQ(brief["bottlenecks"][0]["name"], "libm-special-functions");
  EXPECT_FALSE(brief["rules"].empty());
  EXPECT_TRUE(brief["ideas"].is_array());
  EXPECT_FALSE(brief.contains("request")) << "nobody is asked";
}

TEST(Brief, TellsWhatWasTriedHereAndHowItWent) {
  ResearchInputs in = toy_inputs();
  in.past.push_back(result(1, "fast", "simple", 0.8, Verdict::reverted));
  in.past.push_back(result(2, "fast", "simple", 1.5, Verdict::accepted));
  in.past.back().machine = "another";
  in.past.push_back(result(3, "wrong", "simple", 1, Verdict::reverted));
  in.past.back().timed = false;
  in.past.back().evidence = "y[0] = 1, expected 2";
  in.past.front().sentence = "Slower: -20.00 %.";
  const Json tried = document(in)["tried"];
  ASSERT_EQ(tried.size(), 2U) << "those of this machine";
  EXPECT_EQ(tried[0]["candidate"], "toy/fast");
  EXPECT_NEAR(tried[0]["speedup"].get<double>(), 0.8, 1e-9);
  EXPECT_FALSE(tried[1].contains("speedup"));
  EXPECT_EQ(tried[1]["evidence"], "y[0] = 1, expected 2");
  EXPECT_EQ(tried[0]["why"], "Slower: -20.00 %.");
}

TEST(Brief, TheNewestTriesAreTold) {
  ResearchInputs in = toy_inputs();
  for (int i = 1; i <= 100; ++i) {
    in.past.push_back(result(i, "v" + std::to_string(i), "simple", 0.9, Verdict::reverted));
  }
  const Json tried = document(in)["tried"];
  EXPECT_EQ(tried.size(), 60U);
  EXPECT_EQ(tried.back()["experiment"], 100);
}

TEST(Brief, ARequestSaysHowEarlierAnswersFared) {
  const ProposerCall call{
      .campaign = 4,
      .command = "mutate",
      .outcome = ProposerOutcome::timed_out,
      .note = "it was ended after 2.0 s",
      .proposals = {{.author = "me", .configuration = {}, .state = ProposalState::refused, .why = "no text"}}};
  const Json request = document(
      toy_inputs(),
      BriefRequest{.campaign = 5, .most = 3, .timeout_s = 9, .budget_left_s = 100, .before = {call}})["request"];
  EXPECT_EQ(request["campaign"], 5);
  EXPECT_EQ(request["earlier_answers"][0]["campaign"], 4) << "so that an author can tell its answers of this one";
  EXPECT_EQ(request["candidates_at_most"], 3);
  EXPECT_EQ(request["answer_within_s"], 9);
  EXPECT_EQ(request["budget_left_s"], 100);
  EXPECT_EQ(request["earlier_answers"][0]["outcome"], "timed_out");
  EXPECT_EQ(request["earlier_answers"][0]["proposals"][0]["why"], "no text");
  EXPECT_TRUE(request["earlier_answers"][0]["proposals"][0]["configuration"].is_null());
}

}  // namespace
}  // namespace apo
