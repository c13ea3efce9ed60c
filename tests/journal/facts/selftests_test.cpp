// tests/journal/facts/selftests_test.cpp - a selftest comes back as it was written, for the machine that it was
// measured on.
#include <utility>

#include "journal/database.h"
#include "journal/query/queries.h"
#include "tests/journal/journal_test.h"

namespace apo {
namespace {

using namespace apo::test;

SelftestComparison a_comparison() {
  return {.kind = SelftestKind::power,
          .incumbent = {"spin/chain", {{"EXTRA", 10}}},
          .candidate = {"spin/chain", {{"EXTRA", 0}}},
          .workload = "s5k",
          .truth = 0.00995,
          .random_layout = false,
          .verdict = Verdict::accepted,
          .reason = Reason::faster,
          .effect = 0.0101,
          .lower = 0.009,
          .upper = 0.012,
          .rounds = 14,
          .processes = 28,
          .seconds = 3.5,
          .effects = {0.01, -0.0, 1.0 / 3},
          .sentence = "all calls together took longer",
          .samples = {.calls = 2, .blocks = 20, .several_cpus = true}};
}

Selftest a_selftest(Journal& journal, const Machine& machine) {
  journal.add_machine(machine);
  Selftest selftest{
      .machine = machine.id, .cache_policy = CachePolicy::cold, .judge_preset = "auto", .rule_version = "r", .seed = 7};
  selftest.id = journal.begin_selftest(selftest);
  selftest.seconds = 60;
  selftest.smallest_claim = 0.004;
  selftest.kernels.push_back({.configuration = {"spin/chain", {{"EXTRA", 0}}},
                              .workload = "s5k",
                              .preset = "precise",
                              .call_ns = 1e4,
                              .rounds_per_process = 3,
                              .round_sd = 0.001,
                              .resolves_10s = 0.002,
                              .smallest_claim = 0.0009});
  return selftest;
}

using SelftestRows = JournalTest;

TEST_F(SelftestRows, ComeBackAsTheyWereWritten) {
  const Machine machine = a_machine();
  const Selftest written = a_selftest(journal, machine);
  journal.add_selftest_comparison(written.id, a_comparison());
  journal.finish_selftest(written);
  auto read = journal.latest_selftest(machine);
  ASSERT_TRUE(read);
  EXPECT_NE(std::exchange(read->started_at, ""), "");
  EXPECT_NE(std::exchange(read->ended_at, ""), "");
  EXPECT_EQ(read, written);
  EXPECT_EQ(journal.selftest_comparisons(written.id), std::vector<SelftestComparison>{a_comparison()});
}

TEST_F(SelftestRows, OfAnOlderJournalSayNeitherWhyNorHow) {
  const Selftest written = a_selftest(journal, a_machine());
  journal.add_selftest_comparison(written.id, a_comparison());
  Database(scratch.path, Access::read_write)
      .execute(
          "DROP TRIGGER selftest_comparison_no_UPDATE; UPDATE selftest_comparison SET sentence = '', calls = NULL,"
          " blocks = NULL, several_cpus = NULL");
  const auto comparisons = journal.selftest_comparisons(written.id);
  ASSERT_EQ(comparisons.size(), 1u);
  EXPECT_EQ(comparisons[0].sentence, "");
  EXPECT_EQ(comparisons[0].samples, SamplePlan{});
}

TEST_F(SelftestRows, OfAnotherStateOfTheMachineAndInterruptedOnesAreNotTheLatest) {
  Machine machine = a_machine();
  EXPECT_FALSE(journal.latest_selftest(machine));
  const Selftest first = a_selftest(journal, machine);
  EXPECT_FALSE(journal.latest_selftest(machine)) << "it has not ended";
  journal.finish_selftest(first);
  a_selftest(journal, machine);  // killed before its end
  EXPECT_EQ(journal.latest_selftest(machine)->id, first.id);
  machine.driver += " updated";
  EXPECT_FALSE(journal.latest_selftest(machine));
}

TEST_F(SelftestRows, TotalsCountInterruptedOnesToo) {
  for (int i = 0; i < 2; ++i) {
    const Selftest selftest = a_selftest(journal, a_machine());
    journal.add_selftest_comparison(selftest.id, a_comparison());
  }
  const Table totals = run_sql(scratch.path, "SELECT comparisons, accepted, truth FROM selftest_totals");
  ASSERT_EQ(totals.rows.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(totals.rows[0][0]), 2);
  EXPECT_EQ(std::get<std::int64_t>(totals.rows[0][1]), 2);
}

}  // namespace
}  // namespace apo
