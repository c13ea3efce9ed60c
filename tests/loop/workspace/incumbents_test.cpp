// tests/loop/workspace/incumbents_test.cpp - whose incumbent a campaign starts from when workloads of a class differ.
#include "harness/loop/workspace/incumbents.h"

#include <gtest/gtest.h>

#include "journal/facts/incumbents.h"
#include "tests/loop/export/dispatch_fixture.h"
#include "tests/shipped_families.h"

namespace apo {
namespace {

using test::DispatchJournal;
using test::kBest;
using test::kTiles;

const std::vector<std::string> kShort = {"b8_t128_h83_n32"};
const std::vector<std::string> kWide = {"b16_t512_h83_n32"};
const std::vector<std::string> kLong = {"b1_t16384_h83_n32"};

NearestIncumbent nearest(DispatchJournal& journal, const std::string& workload) {
  const Family& family = *find_family("e88_backward");
  const Incumbent of_class = *find_incumbent(journal.journal(), family.name, "n32", "GPU-1");
  return nearest_incumbent(family, class_incumbents(journal.journal(), family, of_class), {workload});
}

TEST(Incumbents, EachWorkloadHasWhatWasAcceptedLastThere) {
  DispatchJournal journal;
  journal.accept({.candidate = kTiles, .workloads = kLong});
  journal.accept({.candidate = kBest, .workloads = kWide});
  EXPECT_EQ(nearest(journal, "b1_t16384_h83_n32").incumbent.configuration.label(), kTiles);
  const auto found = nearest(journal, "b8_t512_h386_n32");
  EXPECT_EQ(found.incumbent.configuration.label(), kBest);
  EXPECT_EQ(found.because, std::string("the incumbent of b16_t512_h83_n32; at b1_t16384_h83_n32 it is ") + kTiles);
}

TEST(Incumbents, WhatAnAcceptedConfigurationLostToStandsOnThatWorkload) {
  DispatchJournal journal;
  journal.accept({.candidate = kTiles, .baseline = kBest, .workloads = kShort, .effect = 0.05});
  journal.accept(
      {.candidate = kTiles, .baseline = kBest, .workloads = kWide, .verdict = Verdict::reverted, .effect = -0.4});
  EXPECT_EQ(nearest(journal, kShort[0]).incumbent.configuration.label(), kTiles);
  EXPECT_EQ(nearest(journal, kWide[0]).incumbent.configuration.label(), kBest);
}

TEST(Incumbents, ALossOfWhatWasNeverAcceptedSaysNothing) {
  DispatchJournal journal;
  journal.accept({.candidate = kTiles, .workloads = kShort});
  journal.accept({.candidate = "e88_backward/cuda_register_tiled",
                  .baseline = "e88_backward/cuda_simple",
                  .workloads = kWide,
                  .verdict = Verdict::reverted,
                  .effect = -0.4});
  const auto found = nearest(journal, kWide[0]);
  EXPECT_EQ(found.incumbent.configuration.label(), kTiles);
  EXPECT_EQ(found.because, "");
}

TEST(Incumbents, OfContradictoryJudgementsOnOneWorkloadTheNewestDecides) {
  DispatchJournal journal;
  journal.accept({.candidate = kTiles, .baseline = kBest, .workloads = kShort, .effect = 0.05});
  journal.accept(
      {.candidate = kTiles, .baseline = kBest, .workloads = kShort, .verdict = Verdict::reverted, .effect = -0.05});
  EXPECT_EQ(nearest(journal, kShort[0]).incumbent.configuration.label(), kBest);
  journal.accept({.candidate = kTiles, .baseline = kBest, .workloads = kShort, .effect = 0.05});
  EXPECT_EQ(nearest(journal, kShort[0]).incumbent.configuration.label(), kTiles);
}

TEST(Incumbents, WhatAnAlarmWithdrewIsThatOfNoWorkload) {
  DispatchJournal journal;
  journal.accept({.candidate = kBest, .workloads = kWide});
  const DispatchJournal::Accept withdrawn{.candidate = kTiles, .workloads = kLong};
  const std::int64_t campaign = journal.campaign(withdrawn);
  journal.accept(withdrawn, campaign);
  journal.certify(campaign, withdrawn, true);
  EXPECT_EQ(nearest(journal, kLong[0]).incumbent.configuration.label(), kBest);
}

TEST(Incumbents, OneAnswerOnAllWorkloadsIsTheClasssOwn) {
  DispatchJournal journal;
  journal.accept({.candidate = kBest, .workloads = kShort});
  const std::int64_t newest = journal.accept({.candidate = kBest, .workloads = kWide});
  const auto found = nearest(journal, kShort[0]);
  EXPECT_EQ(found.incumbent.experiment, newest);
  EXPECT_EQ(found.because, "");
}

class IncumbentListener : public SilentObserver {
 public:
  void say(const std::string& line) override { heard += line + "\n"; }
  std::string heard;
};

TEST(StartingPoint, IsTheIncumbentOfTheNearestWorkloadAndNamesThoseOfTheOthers) {
  const TemporaryFolder folder;
  Workspace workspace(make_paths((folder.path() / "journal.db").string()));
  const Machine& host = workspace.machine();
  DispatchJournal journal;
  const auto accept = [&](const std::string& candidate, const std::string& workload) {
    journal.accept({.machine = "host",
                    .candidate = candidate,
                    .baseline = "e88_backward/simple",
                    .workloads = {workload},
                    .driver = host.driver});
  };
  accept("e88_backward/column_vectorised[LANES=8]", "b1_t256_h8_n32");
  accept("e88_backward/column_vectorised[LANES=16]", "b2_t64_h4_n32");
  Policy policy{.family = "e88_backward", .workload_class = "n32", .workloads = {"b1_t256_h8_n32"}};
  IncumbentListener listener;
  EXPECT_EQ(starting_point(workspace, journal.journal(), policy, listener).label(),
            "e88_backward/column_vectorised[LANES=8]");
  EXPECT_EQ(listener.heard,
            "e88_backward/column_vectorised[LANES=8] is the incumbent of b1_t256_h8_n32; at "
            "b2_t64_h4_n32 it is "
            "e88_backward/column_vectorised[LANES=16]\n");
}

}  // namespace
}  // namespace apo
