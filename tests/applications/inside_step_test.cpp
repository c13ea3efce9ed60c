// tests/applications/inside_step_test.cpp - what a comparison inside a step tells, from its two experiments.
#include "harness/applications/inside_step.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/recording/recorded_call.h"
#include "tests/text.h"

namespace apo {
namespace {

Experiment experiment(double a_ns, double b_ns, double mhz, const std::string& sentence) {
  Experiment made;
  made.judgement = Judgement{.sentence = sentence, .incumbent_ns = a_ns, .candidate_ns = b_ns};
  for (const double around : {-5.0, 0.0, 7.0}) {
    Round round;
    round.environment.sm_mhz_after = mhz + around;
    round.environment.watts = 500;
    made.rounds.push_back(round);
  }
  return made;
}

InsideStep inside() {
  return {.own = experiment(10'000, 8'000, 1980, "B is 1.25x."),
          .step = experiment(100'000, 95'000, 1755, "The step with B is 1.05x."),
          .kernel = "_Z5scalePKfPfi",
          .replaced = 3,
          .kept = 1};
}

TEST(InsideStep, TheRestIsTheStepWithoutTheReplacedLaunches) {
  const RestOfStep rest = rest_of_step(inside());
  EXPECT_EQ(rest.with_incumbent_ns, 70'000);
  EXPECT_EQ(rest.with_candidate_ns, 71'000) << "the neighbours lose a sixth of the gain";
  EXPECT_EQ(rest.own_mhz, 1980);
  EXPECT_EQ(rest.step_mhz, 1755);
}

TEST(InsideStep, TellsTheKernelTheStepAndTheRest) {
  const std::string text = inside_text(inside());
  for (const char* const part :
       {"alone: B is 1.25x.", "the step with 3 of 4 launches of _Z5scalePKfPfi replaced: The step with B is 1.05x.",
        "70 us", "71 us", "alone at 1980 MHz, 500 W; in the step at 1755 MHz, 500 W"}) {
    expect_contains(text, part);
  }
  const nlohmann::ordered_json document = to_document(inside());
  EXPECT_EQ(document.at("rest_of_step").at("with_candidate_ns"), 71'000);
  EXPECT_EQ(document.at("replaced"), 3);
}

TEST(InsideStep, TakesTheRecordedKernelThatTheStepLaunches) {
  Catalogue catalogue;
  catalogue.load({"/no/such/folder"});
  const auto call_of = [](const std::string& kernel) {
    return RecordedCall{.operations = {{.kernel = RecordedKernel{.module = 0, .name = kernel}}},
                        .modules = {{.image = "cubin", .variables = {}}},
                        .memory = {},
                        .device = ""};
  };
  for (const std::string name : {"a_python_file", "recorded", "second"}) {
    const std::string object = name + ".record";
    Variant variant{.family = "sums", .name = name, .target = Target::cuda, .path = "/records/" + name + ".cu"};
    variant.source = "// apo:record " + object;
    variant.source_hash = name;
    variant.object = object;
    variant.headers = {{.name = object, .text = encode(call_of(name)), .path = "/records/" + object}};
    catalogue.add(variant);
  }
  const Family family{.name = "sums"};
  EXPECT_EQ(recorded_kernel(catalogue, family, call_of("second")).name, "second");
  EXPECT_EQ(recorded_kernel(catalogue, family, call_of("recorded")).name, "recorded");
  EXPECT_EQ(recorded_kernel(catalogue, family, call_of("of_another_name")).name, "recorded");
  EXPECT_THROW(recorded_kernel(Catalogue(), family, call_of("second")), UserError);
}

TEST(InsideStep, OfAWrongVariantHasNoStep) {
  InsideStep wrong = inside();
  wrong.own.judgement->reason = Reason::gate_failed;
  wrong.step.reset();
  EXPECT_EQ(inside_text(wrong), "alone: B is 1.25x.\n");
  EXPECT_TRUE(to_document(wrong).at("step").is_null());
}

TEST(InsideStep, WithAWrongOutputHasNoTimes) {
  InsideStep wrong = inside();
  wrong.step->judgement->incumbent_ns = 0;
  EXPECT_EQ(inside_text(wrong).find("the rest of the step"), std::string::npos);
  EXPECT_TRUE(to_document(wrong).at("rest_of_step").is_null());
}

}  // namespace
}  // namespace apo
