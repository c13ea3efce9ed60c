// tests/loop/resume_test.cpp - an interrupted campaign against what was typed when it was asked for again.
#include <gtest/gtest.h>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/loop/campaign.h"
#include "journal/facts/campaigns.h"
#include "tests/text.h"

namespace apo {
namespace {

Campaign interrupted() {
  Campaign campaign{.id = 3, .baseline = {"copy/simple", {}}};
  campaign.policy.family = "copy";
  campaign.policy.workloads = {"n4k"};
  campaign.policy.iterations = 6;
  campaign.policy.candidates_per_iteration = 2;
  campaign.policy.budget_s = 600;
  return campaign;
}

CampaignRequest request() {
  CampaignRequest request{.policy = interrupted().policy, .typed = {}, .command = {"apo", "run", "copy"}};
  request.policy.iterations = 1;
  request.policy.candidates_per_iteration = 5;
  request.policy.budget_s = 0;
  return request;
}

TEST(Resume, WhatWasTypedWinsAndTheRestIsTheCampaignsOwn) {
  CampaignRequest asked = request();
  const Policy untyped = resumed_policy(interrupted(), asked, std::nullopt);
  EXPECT_EQ(untyped.iterations, 6);
  EXPECT_EQ(untyped.candidates_per_iteration, 2);
  EXPECT_EQ(untyped.budget_s, 600);
  asked.typed = {"--iterations", "--candidates", "--budget"};
  asked.policy.budget_s = 60;
  const Policy typed = resumed_policy(interrupted(), asked, std::nullopt);
  EXPECT_EQ(typed.iterations, 1);
  EXPECT_EQ(typed.candidates_per_iteration, 5);
  EXPECT_EQ(typed.budget_s, 60);
}

TEST(Resume, TypedIterationsCountFromHereAndTheCampaignsOwnDoNotCountInterruptedOnes) {
  CampaignRequest asked = request();
  EXPECT_EQ(last_iteration(interrupted(), asked, 3, 1), 7);
  asked.typed = {"--iterations"};
  EXPECT_EQ(last_iteration(interrupted(), asked, 3, 1), 4);
  asked.policy.iterations = 6;
  EXPECT_EQ(last_iteration(interrupted(), asked, 3, 1), 7) << "the same command again goes on as planned";
}

TEST(Resume, TheTextNamesTheNextIterationOrThatOnlyTheCertificationIsLeft) {
  EXPECT_EQ(resumption_text(interrupted(), {}, 4, 6),
            "resuming campaign 3 at iteration 4 of 6, with the settings that it began with");
  EXPECT_EQ(resumption_text(interrupted(), {"--iterations"}, 6, 6),
            "resuming campaign 3 at iteration 6 of 6, with the settings that it began with and what was typed");
  EXPECT_EQ(resumption_text(interrupted(), {}, 7, 6), "resuming campaign 3: its certification is left");
}

TEST(Resume, AContradictionNamesTheCommandForEachChoice) {
  CampaignRequest asked = request();
  asked.typed = {"--baseline", "--workload"};
  asked.policy.workloads = {"n1m"};
  asked.command = {"apo", "run", "copy", "--baseline=copy/parallel", "--workload", "n1m", "--iterations", "1"};
  try {
    resumed_policy(interrupted(), asked, Configuration{"copy/parallel", {}});
    FAIL() << "it went on from another baseline";
  } catch (const UserError& error) {
    const std::string what = error.what();
    expect_contains(what, "campaign 3");
    expect_contains(what, "--workload and --baseline");
    expect_contains(error.hint(), "apo run copy --iterations 1\n");
    expect_contains(error.hint(), "apo run copy --baseline=copy/parallel --workload n1m --iterations 1 --new");
  }
}

TEST(Resume, WhatWasTypedAgainIsNoContradiction) {
  CampaignRequest asked = request();
  asked.typed = {"--workload", "--baseline", "--cache", "--judge", "--layout"};
  EXPECT_NO_THROW(resumed_policy(interrupted(), asked, Configuration{"copy/simple", {}}));
}

// A trial is a campaign of candidates that somebody named; `apo run` would else go on with it.
TEST(Recover, NobodyResumesAnInterruptedTrial) {
  const TemporaryFolder folder;
  for (const int iterations : {kNamedCandidates, 6}) {
    const auto path = folder.path() / std::to_string(iterations);
    Campaign begun = interrupted();
    begun.policy.iterations = iterations;
    begun.machine = "m";
    {
      Journal driver = Journal::open(path, Access::read_write);
      add_machine(driver, {.id = "m", .model = "a machine"});
      begin_campaign(driver, begun);
    }
    Journal journal = Journal::open(path, Access::read_write);
    SilentObserver observer;
    recover(journal, observer);
    const Campaign campaign = all_campaigns(journal).at(0);
    EXPECT_EQ(campaign.state != CampaignState::open, iterations == kNamedCandidates);
    EXPECT_EQ(campaign.end_note.empty(), iterations != kNamedCandidates);
  }
}

TEST(CommandLine, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(command_line({"apo", "run", "--baseline", "copy/x[K=2]", "it's"}),
            "apo run --baseline 'copy/x[K=2]' 'it'\\''s'");
}

}  // namespace
}  // namespace apo
