// tests/journal/facts/selftests_test.cpp - a selftest comes back as it was written, for the machine that it was
// measured on.
#include "journal/facts/selftests.h"

#include <utility>

#include "journal/database.h"
#include "journal/facts/machines.h"
#include "journal/query/queries.h"
#include "tests/core/json/round_trip.h"
#include "tests/journal/journal_test.h"

namespace apo {

APO_FIELDS(SamplePlan, calls, blocks, several_cpus)
APO_FIELDS(SelftestComparison, kind, incumbent, candidate, workload, truth, random_layout, verdict, reason, effect,
           lower, upper, rounds, processes, seconds, effects, sentence, samples)
APO_FIELDS(SelftestKernel, configuration, workload, preset, call_ns, round_s, kernel_s, start_s, rounds_per_process,
           round_sd, sample_sd, block_sd, within_sd, layout_sd, process_sd, resolves_1s, resolves_10s, resolves_60s,
           smallest_claim)

namespace {

using namespace apo::test;

SelftestComparison a_selftest_comparison() {
  auto comparison = filled<SelftestComparison>();
  comparison.verdict = Verdict::accepted;
  comparison.effects.push_back(-0.0);
  return comparison;
}

Selftest a_selftest(Journal& journal, const Machine& machine) {
  add_machine(journal, machine);
  Selftest selftest{
      .machine = machine.id, .cache_policy = CachePolicy::cold, .judge_preset = "auto", .rule_version = "r", .seed = 7};
  selftest.id = begin_selftest(journal, selftest);
  selftest.seconds = 60;
  selftest.smallest_claim = 0.004;
  selftest.kernels = {filled<SelftestKernel>(), {.configuration = {"spin/chain", {{"EXTRA", 0}}}}};
  return selftest;
}

using SelftestRows = JournalTest;

TEST_F(SelftestRows, ComeBackAsTheyWereWritten) {
  const Machine machine = a_machine();
  const Selftest written = a_selftest(journal, machine);
  add_selftest_comparison(journal, written.id, a_selftest_comparison());
  finish_selftest(journal, written);
  auto read = latest_selftest(journal, machine);
  ASSERT_TRUE(read);
  EXPECT_NE(std::exchange(read->started_at, ""), "");
  EXPECT_NE(std::exchange(read->ended_at, ""), "");
  EXPECT_EQ(read, written);
  EXPECT_EQ(selftest_comparisons(journal, written.id), std::vector<SelftestComparison>{a_selftest_comparison()});
}

TEST_F(SelftestRows, OfAnOlderJournalSayNeitherWhyNorHow) {
  const Selftest written = a_selftest(journal, a_machine());
  add_selftest_comparison(journal, written.id, a_selftest_comparison());
  Database(scratch.path, Access::read_write)
      .execute(
          "DROP TRIGGER selftest_comparison_no_UPDATE; UPDATE selftest_comparison SET sentence = '', calls = NULL,"
          " blocks = NULL, several_cpus = NULL");
  const auto comparisons = selftest_comparisons(journal, written.id);
  ASSERT_EQ(comparisons.size(), 1u);
  EXPECT_EQ(comparisons[0].sentence, "");
  EXPECT_EQ(comparisons[0].samples, SamplePlan{});
}

TEST_F(SelftestRows, OfAnotherStateOfTheMachineAndInterruptedOnesAreNotTheLatest) {
  Machine machine = a_machine();
  EXPECT_FALSE(latest_selftest(journal, machine));
  const Selftest first = a_selftest(journal, machine);
  EXPECT_FALSE(latest_selftest(journal, machine)) << "it has not ended";
  finish_selftest(journal, first);
  a_selftest(journal, machine);  // killed before its end
  EXPECT_EQ(latest_selftest(journal, machine)->id, first.id);
  machine.driver += " updated";
  EXPECT_FALSE(latest_selftest(journal, machine));
}

TEST_F(SelftestRows, TotalsCountInterruptedOnesToo) {
  for (int i = 0; i < 2; ++i) {
    const Selftest selftest = a_selftest(journal, a_machine());
    add_selftest_comparison(journal, selftest.id, a_selftest_comparison());
  }
  const Table totals = run_sql(scratch.path, "SELECT comparisons, accepted, truth FROM selftest_totals");
  ASSERT_EQ(totals.rows.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(totals.rows[0][0]), 2);
  EXPECT_EQ(std::get<std::int64_t>(totals.rows[0][1]), 2);
}

}  // namespace
}  // namespace apo
