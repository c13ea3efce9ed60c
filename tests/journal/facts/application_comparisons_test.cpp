// tests/journal/facts/application_comparisons_test.cpp - judgements by an application come back as they were written.
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/core/error.h"
#include "harness/core/json/records_json.h"
#include "journal/query/queries.h"
#include "tests/journal/journal_test.h"

namespace apo {
namespace {

using namespace apo::test;

ApplicationComparison a_comparison_of(std::int64_t campaign) {
  ApplicationComparison one{.campaign = campaign,
                            .application = an_application(),
                            .folder = "/tmp/place",
                            .dispatch = {kAwkward, "new"},
                            .machine = "cpu-1",
                            .started_at = "2026-01-02T03:04:05Z"};
  one.runs = {{.pair = 0,
               .of_b = true,
               .seed = -7,
               .start_up_s = 1.0 / 3,
               .steps = 4,
               .seconds = 2,
               .wall_s = 3,
               .values = {{"step", 0.5}, {"loss", 1e-300}}},
              {.view = ApplicationView::fixed_time,
               .pair = 0,
               .seed = -7,
               .outcome = Outcome::not_finite,
               .evidence = "'loss' is nan",
               .wall_s = 1}};
  one.outcome = Outcome::not_finite;
  one.failed_a = true;
  one.speeds = {{.value_a = 2,
                 .value_b = 1,
                 .start_up_a_s = 3,
                 .start_up_b_s = 4,
                 .pairs = 0,
                 .effect = 0.5,
                 .lower = -std::numeric_limits<double>::infinity(),
                 .upper = 1}};
  one.qualities = {{.metric = "loss",
                    .value_a = 1,
                    .value_b = 2,
                    .change = 1,
                    .lower = 0.5,
                    .upper = std::numeric_limits<double>::infinity(),
                    .margin = 0.01,
                    .seeds = 3,
                    .seeds_needed = 5}};
  one.verdict = Verdict::inconclusive;
  one.reason = Reason::interrupted;
  one.sentence = kAwkward;
  one.expectation = ApplicationExpectation{.missing = "no profile"};
  one.seconds = 9;
  one.rule_version = "r";
  one.finished_at = "2026-01-02T03:05:05Z";
  return one;
}

std::int64_t keep(Journal& journal, ApplicationComparison& one) {
  one.id = journal.begin_application_comparison(one);
  for (const ApplicationRun& run : one.runs) {
    journal.add_application_run(one.id, run);
  }
  journal.finish_application_comparison(one);
  return one.id;
}

using ApplicationComparisons = PreparedTest;

TEST_F(ApplicationComparisons, ComeBackWholeUnderTheirCampaign) {
  const std::int64_t campaign = journal.begin_campaign(a_campaign());
  ApplicationComparison of_campaign = a_comparison_of(campaign);
  ApplicationComparison alone = a_comparison_of(0);
  keep(journal, of_campaign);
  keep(journal, alone);
  ASSERT_EQ(journal.application_comparisons(campaign).size(), 1U);
  ASSERT_EQ(journal.application_comparisons(0).size(), 1U);
  EXPECT_EQ(to_document(journal.application_comparisons(campaign)[0]), to_document(of_campaign));
  EXPECT_EQ(to_document(journal.application_comparisons(0)[0]), to_document(alone));
  EXPECT_EQ(to_document(journal.load_application_comparison(alone.id)), to_document(alone));
  EXPECT_THROW(journal.load_application_comparison(alone.id + 1), UserError);
  EXPECT_EQ(journal.check_invariants(), std::vector<std::string>());
}

TEST_F(ApplicationComparisons, AnExpectationComesBackWithItsProfile) {
  ApplicationComparison one = a_comparison_of(0);
  const std::int64_t profile = journal.add_application({.source = "ncu", .command = "x"}, {.total_ns = 5}, "");
  one.expectation = ApplicationExpectation{.profile = profile,
                                           .share = 0.4,
                                           .kernel = "b over a",
                                           .kernel_effect = 0.25,
                                           .kernel_lower = 0.125,
                                           .kernel_upper = 0.5,
                                           .effect = 0.1,
                                           .lower = 0.05,
                                           .upper = 0.2,
                                           .agrees = true};
  keep(journal, one);
  const ApplicationExpectation back = journal.application_comparisons(0)[0].expectation.value();
  EXPECT_EQ(back.profile, profile);
  EXPECT_EQ(back.kernel, "b over a");
  EXPECT_NEAR(back.kernel_upper, 0.5, 1e-12);
  EXPECT_NEAR(back.lower, 0.05, 1e-12);
  EXPECT_TRUE(back.agrees);
  EXPECT_EQ(back.missing, "");
}

TEST_F(ApplicationComparisons, AnInterruptedOneKeepsItsRunsAndHasNoVerdict) {
  ApplicationComparison one = a_comparison_of(0);
  one.id = journal.begin_application_comparison(one);
  journal.add_application_run(one.id, one.runs[0]);
  const ApplicationComparison back = journal.application_comparisons(0).at(0);
  EXPECT_EQ(back.runs.size(), 1U);
  EXPECT_FALSE(back.verdict);
  const Table table = run_sql(scratch.path, "SELECT state FROM application_comparisons WHERE verdict IS NULL");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "running");
}

TEST_F(ApplicationComparisons, AFinishedOneTakesNoMoreRuns) {
  ApplicationComparison one = a_comparison_of(0);
  keep(journal, one);
  EXPECT_THROW(journal.add_application_run(one.id, one.runs[0]), std::logic_error);
}

TEST_F(ApplicationComparisons, AnAcceptThatLostItsQualityBreaksAnInvariant) {
  ApplicationComparison one = a_comparison_of(0);
  one.verdict = Verdict::accepted;
  keep(journal, one);
  EXPECT_FALSE(journal.check_invariants().empty());
}

}  // namespace
}  // namespace apo
