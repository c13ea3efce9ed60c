// tests/loop/fleet/agreement_test.cpp - an acceptance that other devices repeat, or do not.
#include "harness/loop/fleet/agreement.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

DeviceVerdict on(const std::string& device, Verdict verdict, double effect) {
  return {.device = device,
          .judgement = {.verdict = verdict,
                        .reason = verdict == Verdict::accepted ? Reason::faster : Reason::no_gain,
                        .sentence = "",
                        .effect = effect,
                        .lower = effect - 0.01,
                        .upper = effect + 0.01,
                        .rounds = 14}};
}

Experiment judged(const DeviceVerdict& first) {
  Experiment experiment;
  experiment.judgement = first.judgement;
  return experiment;
}

TEST(Agreement, AllDevicesThatHaveToAgreeDo) {
  const DeviceVerdict first = on("GPU-1", Verdict::accepted, 0.05);
  Experiment experiment = judged(first);
  demand_agreement(experiment, first, {on("GPU-2", Verdict::accepted, 0.04)}, 2);
  EXPECT_EQ(experiment.judgement->verdict, Verdict::accepted);
  EXPECT_EQ(experiment.judgement->effect, 0.05) << "the effects of two devices are never mixed";
  ASSERT_EQ(experiment.gates.size(), 1U);
  EXPECT_EQ(experiment.gates[0].gate, "replication");
  EXPECT_NE(experiment.gates[0].evidence.find("accepted on GPU-2"), std::string::npos) << experiment.gates[0].evidence;
}

TEST(Agreement, OneDeviceThatDoesNotFindItIsEnough) {
  const DeviceVerdict first = on("GPU-1", Verdict::accepted, 0.05);
  Experiment experiment = judged(first);
  demand_agreement(experiment, first, {on("GPU-2", Verdict::inconclusive, 0.001)}, 2);
  EXPECT_EQ(experiment.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(experiment.judgement->reason, Reason::not_replicated);
  EXPECT_NE(experiment.judgement->sentence.find("1 of the 2 devices"), std::string::npos)
      << experiment.judgement->sentence;
}

TEST(Agreement, DevicesThatAreGoneDoNotAgree) {
  const DeviceVerdict first = on("GPU-1", Verdict::accepted, 0.05);
  Experiment experiment = judged(first);
  demand_agreement(experiment, first, {}, 2);
  EXPECT_EQ(experiment.judgement->reason, Reason::not_replicated);
}

TEST(Agreement, NothingElseIsAskedTwice) {
  const DeviceVerdict first = on("GPU-1", Verdict::reverted, -0.05);
  Experiment experiment = judged(first);
  demand_agreement(experiment, first, {}, 3);
  EXPECT_EQ(experiment.judgement->verdict, Verdict::reverted);
  EXPECT_TRUE(experiment.gates.empty());
}

}  // namespace
}  // namespace apo
