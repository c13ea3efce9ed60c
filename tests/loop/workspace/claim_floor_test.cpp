// tests/loop/workspace/claim_floor_test.cpp - which kernel of a selftest a claim is held against, and what the judge
// does with it.
#include <gtest/gtest.h>

#include "harness/core/system/files.h"
#include "harness/evaluate/judge/decision.h"
#include "harness/loop/workspace/known.h"
#include "journal/facts/machines.h"
#include "journal/facts/selftests.h"

namespace apo {
namespace {

class ClaimFloorTest : public ::testing::Test {
 protected:
  void add_three(const std::string& rule = std::string(kRuleVersion)) {
    add({kernel("copy/simple", "n1m", 0.02), kernel("copy/simple", "n4k", 0.01), kernel("spin/chain", "s5k", 0.001)},
        rule);
  }
  void add(const std::vector<SelftestKernel>& kernels, const std::string& rule = std::string(kRuleVersion)) {
    add_machine(journal_, machine_);
    Selftest selftest{.machine = "m", .rule_version = rule, .kernels = kernels};
    selftest.id = begin_selftest(journal_, selftest);
    finish_selftest(journal_, selftest);
  }
  static SelftestKernel kernel(const std::string& variant, const std::string& workload, double claim) {
    return {.configuration = {variant, {}}, .workload = workload, .smallest_claim = claim};
  }
  double floor(const std::string& family, const std::vector<std::string>& workloads) {
    return claim_floor(&journal_, machine_, family, workloads).smallest;
  }
  TemporaryFolder folder_;
  Machine machine_{.id = "m", .model = "a machine"};
  Journal journal_ = Journal::open(folder_.path() / "journal.db", Access::read_write);
};

TEST_F(ClaimFloorTest, IsThatOfTheWorkloadElseOfTheFamilyElseOfTheMedianKernel) {
  add_three();
  EXPECT_EQ(floor("copy", {"n4k"}), 0.01);
  EXPECT_EQ(floor("copy", {"n4k", "n1m"}), 0.02);
  EXPECT_EQ(floor("copy", {"n64m"}), 0.02);
  EXPECT_EQ(floor("e88_forward", {"b2_t64_h4_n32"}), 0.01);
}

TEST_F(ClaimFloorTest, ALaterSelftestOfOtherKernelsChangesOnlyWhatItMeasured) {
  add_three();
  add({kernel("spin/chain", "s5k", 0.0001), kernel("spin/chain", "s50k", 0.0001)});
  EXPECT_EQ(floor("copy", {"n4k"}), 0.01);
  EXPECT_EQ(floor("spin", {"s5k"}), 0.0001);
  add({kernel("copy/simple", "n4k", 0.03)});
  EXPECT_EQ(floor("copy", {"n4k"}), 0.03);
}

TEST_F(ClaimFloorTest, RoundsShareAProcessAsFarAsEveryKernelOnThisVeryWorkloadLetsThem) {
  SelftestKernel two = kernel("copy/simple", "n4k", 0.01);
  SelftestKernel five = kernel("copy/unrolled", "n4k", 0.01);
  two.rounds_per_process = 2;
  five.rounds_per_process = 5;
  const auto rounds = [&](const std::string& family, const std::vector<std::string>& workloads) {
    return claim_floor(&journal_, machine_, family, workloads).rounds_per_process;
  };
  EXPECT_EQ(rounds("copy", {"n4k"}), 1);
  add({five});
  EXPECT_EQ(rounds("copy", {"n4k"}), 5);
  add({two});
  EXPECT_EQ(rounds("copy", {"n4k"}), 2);
  EXPECT_EQ(rounds("copy", {"n1m"}), 1);
  EXPECT_EQ(rounds("spin", {"n4k"}), 1);
  EXPECT_EQ(rounds("copy", {"n4k", "n1m"}), 1);
}

TEST_F(ClaimFloorTest, WithoutASelftestOfThisMachineAndRuleThereIsNoneAndThatIsSaid) {
  EXPECT_EQ(floor("copy", {}), 0);
  EXPECT_NE(claim_floor(&journal_, machine_, "copy", {}).sentence.find("no selftest of this machine"),
            std::string::npos);
  EXPECT_EQ(claim_floor(nullptr, machine_, "copy", {}).smallest, 0);
  add_three("another rule");
  EXPECT_EQ(floor("copy", {}), 0);
}

// A gain that the rule would accept is not claimed where identical code seems to differ by more.
TEST_F(ClaimFloorTest, AGainBelowItIsInconclusiveForNoise) {
  add_three();
  const auto verdict = [](const JudgePreset& profile) {
    Decision decision(profile, profile.confirm_alpha);
    for (int i = 0; decision.phase() != Decision::Phase::finished; ++i) {
      decision.add(0.008 + 1e-5 * (i % 7));
    }
    return std::pair(decision.verdict(), decision.reason());
  };
  const ClaimFloor of_copy = claim_floor(&journal_, machine_, "copy", {"n4k"});
  EXPECT_EQ(verdict(standard_preset()), std::pair(Verdict::accepted, Reason::faster));
  EXPECT_EQ(verdict(with_floor(standard_preset(), of_copy)), std::pair(Verdict::inconclusive, Reason::noisy));
  EXPECT_EQ(with_floor({.minimum_claim = 0.05}, of_copy).minimum_claim, 0.05);
}

}  // namespace
}  // namespace apo
