// tests/fleet/device_answers_test.cpp - an acceptance that other devices repeat, or do not.
#include "harness/fleet/device_answers.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

DeviceAnswer on(const std::string& device, Verdict verdict, double effect) {
  DeviceAnswer answer;
  answer.device = device;
  answer.judged.experiment.judgement = {.verdict = verdict,
                                        .reason = verdict == Verdict::accepted ? Reason::faster : Reason::no_gain,
                                        .sentence = "",
                                        .effect = effect,
                                        .lower = effect - 0.01,
                                        .upper = effect + 0.01,
                                        .rounds = 14};
  return answer;
}

Experiment agreed(const std::vector<DeviceAnswer>& answers, int wanted) {
  Experiment experiment;
  experiment.judgement = answers.front().judged.experiment.judgement;
  demand_agreement(experiment, answers, wanted);
  return experiment;
}

TEST(Agreement, AllDevicesThatHaveToAgreeDo) {
  const Experiment experiment = agreed({on("GPU-1", Verdict::accepted, 0.05), on("GPU-2", Verdict::accepted, 0.04)}, 2);
  EXPECT_EQ(experiment.judgement->verdict, Verdict::accepted);
  EXPECT_EQ(experiment.judgement->effect, 0.05) << "the effects of two devices are never mixed";
  ASSERT_EQ(experiment.gates.size(), 1U);
  EXPECT_EQ(experiment.gates[0].gate, "replication");
  EXPECT_NE(experiment.gates[0].evidence.find("accepted on GPU-2"), std::string::npos) << experiment.gates[0].evidence;
}

TEST(Agreement, OneDeviceThatDoesNotFindItIsEnough) {
  const Experiment experiment =
      agreed({on("GPU-1", Verdict::accepted, 0.05), on("GPU-2", Verdict::inconclusive, 0.001)}, 2);
  EXPECT_EQ(experiment.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(experiment.judgement->reason, Reason::not_replicated);
  EXPECT_NE(experiment.judgement->sentence.find("1 of the 2 devices"), std::string::npos)
      << experiment.judgement->sentence;
}

TEST(Agreement, DevicesThatAreGoneDoNotAgree) {
  EXPECT_EQ(agreed({on("GPU-1", Verdict::accepted, 0.05)}, 2).judgement->reason, Reason::not_replicated);
}

TEST(Agreement, NothingElseIsAskedTwice) {
  const Experiment experiment = agreed({on("GPU-1", Verdict::reverted, -0.05)}, 3);
  EXPECT_EQ(experiment.judgement->verdict, Verdict::reverted);
  EXPECT_TRUE(experiment.gates.empty());
}

}  // namespace
}  // namespace apo
