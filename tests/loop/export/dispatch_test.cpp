// tests/loop/export/dispatch_test.cpp - what the journal accepted, and nothing else, becomes a row.
#include "harness/loop/export/dispatch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/core/error.h"
#include "harness/core/expression/expression.h"
#include "harness/loop/export/dispatch_document.h"
#include "harness/loop/export/refusal.h"
#include "tests/loop/export/dispatch_fixture.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

using test::DispatchJournal;
using test::kBest;
using test::kTiles;

std::string error_of(DispatchJournal& journal, const DispatchRequest& request) {
  return apo::error_of([&] { journal.load(request); });
}

// Of the first device of the first table.
std::vector<DispatchRow> rows_of(const Dispatch& dispatch) {
  return dispatch.tables.at(0).devices.at(0).rows;
}

DispatchRow row_of(DispatchJournal& journal, const DispatchRequest& request = {}) {
  return rows_of(journal.load(request)).at(0);
}

TEST(Dispatch, ARowCarriesTheEvidenceOfItsExperiment) {
  DispatchJournal journal;
  const DispatchJournal::Accept accept{.candidate = "e88_backward/cuda_best[SEQUENCES=7]"};
  const std::int64_t campaign = journal.campaign(accept);
  const std::int64_t experiment = journal.accept(accept, campaign);
  journal.certify(campaign, accept, false);
  const DispatchRow row = row_of(journal);
  EXPECT_EQ(row.workload_class, "n32");
  EXPECT_EQ(row.settings, (Settings{{"SEQUENCES", 7}}));
  ASSERT_TRUE(row.measured.has_value());
  EXPECT_EQ(row.measured->experiment, experiment);
  EXPECT_EQ(row.measured->campaign, campaign);
  EXPECT_EQ(row.measured->workloads, accept.workloads);
  EXPECT_EQ(row.measured->other.variant, "e88_backward/cuda_simple");
  EXPECT_EQ(row.measured->machine.driver, accept.driver);
  EXPECT_EQ(row.measured->build.code_hash.size(), 64U);
  ASSERT_EQ(row.measured->certifications.size(), 1U);
  EXPECT_EQ(row.measured->certifications[0].rounds, 38);
}

TEST(Dispatch, TheNewestAcceptReplacesTheIncumbent) {
  DispatchJournal journal;
  journal.accept({.candidate = "e88_backward/cuda_register_tiled"});
  const std::int64_t second = journal.accept({.candidate = "e88_backward/cuda_best"});
  journal.accept({.candidate = "e88_backward/cuda_tensor_core", .verdict = Verdict::reverted, .effect = -0.4});
  const std::vector<DispatchRow> rows = rows_of(journal.load());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].variant.id(), "e88_backward/cuda_best");
  EXPECT_EQ(rows[0].measured->experiment, second);
}

TEST(Dispatch, SourcesComeWithTheirHeadersAndHostileNamesDoNot) {
  DispatchRow row{.variant = test::shipped_variants().get("copy/simple")};
  row.variant.headers = {{"outer.h", "#include \"inner.h\"\n", ""}};
  const DispatchTable table{.family = find_family("copy"), .devices = {{.rows = {row}}}};
  const std::vector<NamedText> files = dispatch_sources(table);
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[1].path.filename(), "outer.h");
  EXPECT_EQ(files[1].path.parent_path(), files[0].path.parent_path());
  row.variant.headers[0].name = "../../outer.h";
  EXPECT_THROW(dispatch_sources({.family = find_family("copy"), .devices = {{.rows = {row}}}}), UserError);
}

TEST(Dispatch, WhatAnAlarmWithdrewIsNoRow) {
  DispatchJournal journal;
  const DispatchJournal::Accept accept;
  const std::int64_t campaign = journal.campaign(accept);
  journal.accept(accept, campaign);
  journal.certify(campaign, accept, true);
  expect_contains(error_of(journal, {}), "has no accepted configuration");
}

std::vector<std::string> labels_of(const Dispatch& dispatch) {
  std::vector<std::string> labels;
  std::ranges::transform(rows_of(dispatch), std::back_inserter(labels),
                         [](const DispatchRow& row) { return configuration_of(row).label(); });
  return labels;
}

// Two campaigns, each of which accepts one and begins with what the one before left.
struct RefusedJournal : DispatchJournal {
  std::int64_t first = campaign({.candidate = kTiles});
  std::int64_t of_tiles = accept({.candidate = kTiles}, first);
  std::int64_t second = campaign({.candidate = kBest, .baseline = kTiles});
  std::int64_t of_best = accept({.candidate = kBest, .baseline = kTiles}, second);
};

TEST(Dispatch, WhatTheApplicationRefusedLeavesTheClassToWhatWasAcceptedBefore) {
  RefusedJournal journal;
  const std::int64_t comparison = journal.judge_by_application(journal.second, Verdict::reverted);
  const Dispatch dispatch = journal.load();
  EXPECT_EQ(labels_of(dispatch), std::vector<std::string>{kTiles});
  EXPECT_EQ(dispatch.tables[0].devices[0].rows[0].measured->experiment, journal.of_tiles);
  ASSERT_EQ(dispatch.refused.size(), 1U);
  EXPECT_EQ(dispatch.refused[0].incumbent.configuration.label(), kBest);
  EXPECT_EQ(dispatch.refused[0].refusal.comparison, comparison);
  EXPECT_EQ(dispatch.refused[0].refusal.reason, Reason::quality_lost);
  EXPECT_FALSE(dispatch.refused[0].exported);
}

TEST(Dispatch, WhatTheApplicationRefusedIsExportedOnlyOnRequestAndSaysSo) {
  RefusedJournal journal;
  const std::int64_t comparison = journal.judge_by_application(journal.second, Verdict::reverted);
  const Dispatch dispatch = journal.load({.refused = true});
  EXPECT_EQ(labels_of(dispatch), std::vector<std::string>{kBest});
  EXPECT_TRUE(dispatch.refused.at(0).exported);
  expect_contains(statement_of(dispatch.tables[0].devices[0].rows[0]),
                  "refused by its application in comparison c" + std::to_string(comparison));
}

TEST(Dispatch, WhereTheApplicationRefusedEverythingTheErrorNamesTheComparison) {
  RefusedJournal journal;
  journal.judge_by_application(journal.first, Verdict::reverted);
  journal.judge_by_application(journal.second, Verdict::reverted);
  expect_contains(error_of(journal, {}), "'apo show c2' tells why; --refused exports it");
  const Dispatch fallback = journal.load({.fallbacks = {"e88_backward/cuda_simple"}});
  EXPECT_EQ(configuration_of(fallback.tables.at(0).fallbacks.at(0)).label(),
            "e88_backward/cuda_simple[CHUNK=16,THREADS_PER_ROW=4]");
}

TEST(Dispatch, OnlyTheNewestVerdictOfTheCampaignsApplicationCounts) {
  RefusedJournal journal;
  journal.judge_by_application(journal.second, Verdict::reverted);
  journal.judge_by_application(journal.second, Verdict::accepted);
  journal.judge_by_application(journal.first, Verdict::inconclusive);
  EXPECT_EQ(labels_of(journal.load()), std::vector<std::string>{kBest});
  EXPECT_TRUE(journal.load().refused.empty());
}

TEST(Dispatch, ARefusedBaselineIsNoStandardForTheNextApplication) {
  RefusedJournal journal;
  const Incumbent tiles{.family = "e88_backward",
                        .workload_class = "n32",
                        .machine = "GPU-1",
                        .configuration = test::shipped_variants().configuration(kTiles),
                        .campaign = journal.second};
  EXPECT_EQ(before_refusals(journal.journal(), tiles).label(), kTiles);
  journal.judge_by_application(journal.first, Verdict::reverted);
  EXPECT_EQ(before_refusals(journal.journal(), tiles).label(), "e88_backward/cuda_simple[CHUNK=16,THREADS_PER_ROW=4]");
}

TEST(Dispatch, ABaselineThatNothingBeatIsAGapWithItsReason) {
  DispatchJournal journal;
  journal.accept({});
  journal.campaign({.candidate = "e88_forward/cuda_best", .baseline = "e88_forward/cuda_simple"});
  const Dispatch dispatch = journal.load();
  EXPECT_EQ(dispatch.tables.size(), 1U);
  ASSERT_EQ(dispatch.gaps.size(), 1U);
  EXPECT_EQ(dispatch.gaps[0].family, "e88_forward");
  expect_contains(dispatch.gaps[0].why, "baseline");
}

TEST(Dispatch, WithoutAcceptsTheErrorNamesTheCommandThatMakesSome) {
  DispatchJournal journal;
  expect_contains(error_of(journal, {}), "'apo run --iterations");
  journal.accept({});
  expect_contains(error_of(journal, {.family = "e88_forward"}), "'apo run e88_forward --iterations");
}

TEST(Dispatch, DevicesAreChosenByIdOrModel) {
  DispatchJournal journal;
  journal.accept({.finished_at = "2026-01-01T00:00:00Z"});
  journal.accept(
      {.machine = "GPU-2", .candidate = "e88_backward/cuda_lane_tiling", .finished_at = "2026-02-02T00:00:00Z"});
  const std::vector<DispatchDevice> both = journal.load().tables.at(0).devices;
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].machine.id, "GPU-2") << "of one model the newest measurement is first";
  const std::vector<DispatchDevice> one = journal.load({.device = "GPU-1"}).tables.at(0).devices;
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].rows.at(0).variant.id(), "e88_backward/cuda_best");
  EXPECT_EQ(journal.load({.device = "NVIDIA H200"}).tables.at(0).devices.size(), 2U);
  expect_contains(error_of(journal, {.device = "NVIDIA H20"}), "did you mean 'NVIDIA H200'");
}

TEST(Dispatch, AClassThatTheFamilyDoesNotListVouchesForItsWorkloadsOnly) {
  DispatchJournal journal;
  journal.accept({.workload_class = "bespoke", .workloads = {"b8_t128_h83_n32", "gone"}});
  EXPECT_EQ(row_of(journal).region, "(B == 8 && GATE == 1 && H == 83 && N == 32 && NORM == 1 && T == 128 && V == 32)");
  DispatchJournal nothing_left;
  nothing_left.accept({.workload_class = "bespoke", .workloads = {"gone"}});
  expect_contains(error_of(nothing_left, {}), "has no accepted configuration");
}

TEST(Dispatch, AMeasuredRowServesNoSizeOnWhichItWasNotVerifiedUnlessThatIsAskedFor) {
  DispatchJournal journal;
  journal.accept({.workloads = {"b8_t128_h83_n32"}});
  const DispatchRow row = row_of(journal);
  expect_contains(row.region, "B <= 8 && T <= 128 && H <= 83");
  EXPECT_FALSE(row.unchecked);
  const DispatchRow beyond = row_of(journal, {.unchecked = true});
  EXPECT_EQ(beyond.region.find("T <="), std::string::npos) << beyond.region;
  EXPECT_TRUE(beyond.unchecked);
  EXPECT_EQ(statement_of(row), "measured on NVIDIA H200");
  EXPECT_EQ(statement_of(beyond), "measured on NVIDIA H200, and not verified at all sizes of the region");
}

TEST(Dispatch, ARowOfExactSizesIsVerifiedAtAllOfThem) {
  DispatchJournal journal;
  journal.accept({.workload_class = "bespoke", .workloads = {"b8_t128_h83_n32"}});
  const DispatchRow row = row_of(journal, {.unchecked = true});
  expect_contains(row.region, "T == 128");
  EXPECT_FALSE(row.unchecked);
}

TEST(Dispatch, AClassWithTwoAnswersHasARowForEachThatSaysWhereItWasMeasured) {
  DispatchJournal journal;
  journal.accept({.candidate = kTiles, .baseline = kBest, .workloads = {"b8_t128_h83_n32"}, .effect = 0.05});
  const std::int64_t stood = journal.accept({.candidate = kTiles,
                                             .baseline = kBest,
                                             .workloads = {"b16_t512_h83_n32"},
                                             .verdict = Verdict::reverted,
                                             .effect = -0.4});
  const std::vector<DispatchRow> rows = rows_of(journal.load());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].variant.id(), "e88_backward/cuda_best");
  EXPECT_EQ(statement_of(rows[0]), "measured on NVIDIA H200 at b16_t512_h83_n32");
  EXPECT_EQ(rows[0].measured->experiment, stood);
  EXPECT_EQ(rows[0].measured->other.label(), kTiles);
  EXPECT_NEAR(ratio_of(*rows[0].measured).middle, std::exp(0.4), 1e-9) << "of the kernel that stood";
  EXPECT_NEAR(ratio_of(*rows[0].measured).lower, std::exp(0.39), 1e-9);
  EXPECT_EQ(statement_of(rows[1]), "measured on NVIDIA H200 at b8_t128_h83_n32");
  EXPECT_EQ(rows[1].region.find("min(max("), std::string::npos) << "what reaches the last row is its own";
}

TEST(Dispatch, OneAnswerOnSeveralWorkloadsIsTheRowThatItWas) {
  DispatchJournal journal;
  journal.accept({.workloads = {"b8_t128_h83_n32"}});
  journal.accept({.workloads = {"b16_t512_h83_n32"}});
  const std::vector<DispatchRow> rows = rows_of(journal.load());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(statement_of(rows[0]), "measured on NVIDIA H200");
  EXPECT_EQ(rows[0].region,
            "(max(N,V) > 16 && max(N,V) <= 32) && (NORM == 0 || N > 1) && B <= 16 && T <= 512 && H <= 83");
}

TEST(Dispatch, ARowServesNoTensorWithMoreElementsThanOneThatWasVerified) {
  DispatchJournal journal;
  journal.accept({.workloads = {"b16_t512_h83_n32", "b1_t16384_h83_n32"}});
  expect_contains(row_of(journal).region, "&& B <= 16 && T <= 16384 && H <= 83 && B*T*H*N <= 43515904 && B*T*H*V <= ");
}

TEST(Dispatch, AfterContradictoryJudgementsTheRowIsWhatTheNewestOneDecided) {
  DispatchJournal journal;
  journal.accept({.candidate = kTiles, .baseline = kBest, .effect = 0.05});
  journal.accept({.candidate = kTiles, .baseline = kBest, .verdict = Verdict::reverted, .effect = -0.05});
  const std::vector<DispatchRow> rows = rows_of(journal.load());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].variant.id(), "e88_backward/cuda_best");
  EXPECT_TRUE(rows[0].measured->stood);
}

TEST(Dispatch, AnswersOfAClassThatTheFamilyDoesNotListServeTheirWorkloadsOnly) {
  DispatchJournal journal;
  journal.accept({.candidate = kBest, .workload_class = "bespoke", .workloads = {"b8_t128_h83_n32"}});
  journal.accept({.candidate = kTiles, .workload_class = "bespoke", .workloads = {"b16_t512_h83_n32"}});
  const std::vector<DispatchRow> rows = rows_of(journal.load());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].region, "(B == 16 && GATE == 1 && H == 83 && N == 32 && NORM == 1 && T == 512 && V == 32)");
}

TEST(Dispatch, AFallbackServesTheDevicesOfItsTargetAndSaysThatNobodyMeasuredIt) {
  DispatchJournal journal;
  journal.accept({});
  const Dispatch dispatch =
      journal.load({.fallbacks = {"e88_backward/cuda_tensor_core", "e88_backward/cuda_shared_fallback[GLOBAL_STATES=1]",
                                  "e88_backward/simple"}});
  ASSERT_EQ(dispatch.tables.at(0).devices.at(0).rows.size(), 1U);
  const std::vector<DispatchRow>& rows = dispatch.tables.at(0).fallbacks;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows[0].measured.has_value());
  EXPECT_EQ(rows[1].variant.name, "cuda_shared_fallback");
  EXPECT_EQ(rows[1].variant.scratch.back().name, "states") << "of the toggle that is on";
  EXPECT_EQ(rows[1].workload_class, "");
  EXPECT_EQ(rows[1].devices, "compute_capability >= 80") << rows[1].variant.arch;
  EXPECT_EQ(rows[2].devices, "compute_capability == 0") << "a CPU";
  expect_contains(error_of(journal, {.family = "e88_backward", .fallbacks = {"e88_forward/cuda_simple"}}),
                  "fits no exported table");
  expect_contains(error_of(journal, {.fallbacks = {"e88_backward/cuda_bst"}}), "did you mean");
}

TEST(Dispatch, AFamilyWithoutAnAcceptedConfigurationIsServedByItsFallbacks) {
  DispatchJournal journal;
  journal.accept({.machine = "GPU-1"});
  const Dispatch dispatch = journal.load({.fallbacks = {"copy/cuda_simple", "copy/simple"}});
  ASSERT_EQ(dispatch.tables.size(), 2U);
  EXPECT_EQ(dispatch.tables[0].family->name, "copy");
  EXPECT_TRUE(dispatch.tables[0].devices.empty());
  ASSERT_EQ(dispatch.tables[0].fallbacks.size(), 2U);
  const DispatchRequest only_copy{.family = "copy", .fallbacks = {"copy/cuda_simple"}};
  EXPECT_EQ(journal.load(only_copy).tables.size(), 1U);
}

// ---------------------------------------------------------------- judged again on another device

const DispatchJournal::Accept kOnH100 = {.machine = "GPU-H100",
                                         .candidate = kTiles,
                                         .baseline = kBest,
                                         .finished_at = "2026-03-03T00:00:00Z",
                                         .model = "NVIDIA H100 80GB HBM3"};

TEST(Dispatch, WhatWasJudgedAgainOnAnotherDeviceIsItsRow) {
  DispatchJournal journal;
  const std::int64_t original = journal.accept({.candidate = kTiles, .baseline = kBest});
  const std::int64_t again = journal.again(original, kOnH100);
  const DispatchTable table = journal.load().tables.at(0);
  ASSERT_EQ(table.devices.size(), 2U);
  const DispatchRow& row = table.devices[0].rows.at(0);
  EXPECT_EQ(statement_of(row), "measured on NVIDIA H100 80GB HBM3");
  EXPECT_EQ(row.measured->experiment, again);
  EXPECT_EQ(table.devices[1].rows.at(0).measured->experiment, original);
  EXPECT_EQ(journal.load({.device = "GPU-H100"}).tables.at(0).devices.size(), 1U);
}

TEST(Dispatch, WhatIsSlowerOnAnotherDeviceLeavesTheRowThereToWhatItWasJudgedAgainst) {
  DispatchJournal journal;
  const std::int64_t original = journal.accept({.candidate = kTiles, .baseline = kBest});
  DispatchJournal::Accept slower = kOnH100;
  slower.verdict = Verdict::reverted;
  slower.effect = -0.4;
  journal.again(original, slower);
  const DispatchRow row = journal.load().tables.at(0).devices.at(0).rows.at(0);
  EXPECT_EQ(configuration_of(row).label(), kBest);
  EXPECT_TRUE(row.measured->stood);
}

TEST(Dispatch, ADeviceWithAnAnswerOfItsOwnOrWithoutADecisionGetsNoRowByRepetitions) {
  DispatchJournal journal;
  const std::int64_t original = journal.accept({.candidate = kTiles, .baseline = kBest});
  DispatchJournal::Accept undecided = kOnH100;
  undecided.verdict = Verdict::inconclusive;
  journal.again(original, undecided);
  EXPECT_EQ(journal.load().tables.at(0).devices.size(), 1U);
  journal.again(original, kOnH100);
  const std::int64_t own = journal.accept({.machine = "GPU-H100", .model = kOnH100.model});
  EXPECT_EQ(journal.load().tables.at(0).devices.at(0).rows.at(0).measured->experiment, own);
}

// Family::legal and Family::classes are the text of functions: both have to say the same.
TEST(Dispatch, ConditionsOfTheFamiliesAgreeWithTheirFunctions) {
  for (const char* name : {"e88_backward", "e88_forward"}) {
    const Family& family = *find_family(name);
    for (const Workload& workload : family.workloads) {
      for (const WorkloadClass& one : family.classes) {
        EXPECT_EQ(evaluate(one.condition, workload.axes) != 0, one.name == workload.workload_class)
            << name << " " << workload.name << " " << one.name;
      }
    }
    for (const std::int64_t N : {1, 2, 16, 17, 32, 33, 64, 65, 128}) {
      for (const std::int64_t V : {1, 16, 17, 32, 33, 64, 65, 128}) {
        for (const std::int64_t norm : {0, 1}) {
          const Axes axes = {{"B", 1}, {"T", 1}, {"H", 1}, {"N", N}, {"V", V}, {"GATE", 1}, {"NORM", norm}};
          EXPECT_EQ(evaluate(family.legal, axes) != 0, check_axes(family, axes).empty()) << N << " " << norm;
          int classes = 0;
          for (const WorkloadClass& one : family.classes) {
            classes += evaluate(one.condition, axes) != 0 ? 1 : 0;
          }
          EXPECT_EQ(classes, 1) << N << "x" << V;
        }
      }
    }
  }
}

}  // namespace
}  // namespace apo
