// tests/journal/fire_test.cpp - kills at random instants break nothing; experiments/kills.sh fires a thousand.
#include "tests/journal/fire.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "journal/facts/unfinished.h"
#include "journal/query/queries.h"
#include "tests/journal/samples.h"
#include "tests/text.h"

namespace apo {
namespace {

using namespace apo::test;

TEST(Fire, KillsOfACampaignsWriterBreakNoInvariantAndLoseNothingFinished) {
  std::mt19937 random(20261122);
  FireCounts counts;
  for (int journal = 0; journal < 6 || (counts.finished == 0 && journal < 50); ++journal) {
    const Scratch scratch;  // its creation is under fire too
    std::vector<std::int64_t> finished;
    for (const int longest_us : {20'000, 120'000, 120'000, 120'000}) {
      fire_once(scratch.path, random, longest_us, finished, counts);
    }
  }
  EXPECT_EQ(counts.findings, std::vector<std::string>());
  EXPECT_GT(counts.finished, 0);
}

TEST(Fire, ReadersSeeTheFinishedRowsOfAWriterBeforeAndAfterItsKill) {
  const Scratch scratch;
  Writer writer(scratch.path);
  while (writer.next_finished().value() < 3) {
  }
  {
    Journal reader = scratch.open(Access::read_only);
    EXPECT_TRUE(load_experiment(reader, 3).judgement);
    Journal other = scratch.open();
    const std::string error = error_of([&] { take_campaign(other, all_campaigns(reader).back()); });
    expect_contains(error, "process " + std::to_string(writer.process));
  }
  EXPECT_TRUE(writer.end());
  Journal after = scratch.open(Access::read_only);
  EXPECT_TRUE(load_experiment(after, 3).judgement);
  Journal next = scratch.open();
  for (const Unfinished& open : all_unfinished(next)) {
    mark_abandoned(next, open, "killed");
  }
  EXPECT_TRUE(all_unfinished(next).empty());
}

// Each statement breaks one invariant of a journal that keeps them all.
TEST(Invariants, ABreachIsFoundAndNamed) {
  const std::pair<const char*, const char*> kBreaches[] = {
      {"DELETE FROM round WHERE id = (SELECT min(id) FROM round)", "has the rounds that it counts"},
      {"UPDATE build SET outcome = 'build_failed' WHERE experiment = 1", "builds of both sides"},
      {"UPDATE gate SET outcome = 'incorrect' WHERE experiment = 3", "passed every gate"},
      {"UPDATE gate SET position = position + 1 WHERE position = 1", "numbered from 0"},
      {"DELETE FROM experiment_workload WHERE experiment = 1", "has its workloads"},
      {"UPDATE experiment SET iteration = NULL, campaign = NULL WHERE id = 1; UPDATE experiment SET campaign = NULL"
       " WHERE id = 2",
       "that iteration's campaign"},
      {"UPDATE experiment SET workload_class = 'n64' WHERE id = 2", "family and class"},
      {"UPDATE experiment SET incumbent = candidate WHERE id = 2", "accepted last"},
      {"DELETE FROM lesson WHERE experiment = 1; DELETE FROM judgement WHERE experiment = 1", "ended iteration tried"},
      {"UPDATE lesson SET verdict = 'inconclusive' WHERE experiment = 1", "what its experiment found"},
      {"UPDATE judgement SET speedup = 2 WHERE experiment = 1", "what its effect says"},
      {"UPDATE blob SET kind = 'log'", "stored with the variant"},
      {"UPDATE certification_clock SET blocks = 6", "solo runs that say so"},
  };
  const Scratch scratch;
  write_campaign(scratch.path);
  std::string triggers;
  const Table names = run_sql(scratch.path, "SELECT name FROM sqlite_schema WHERE type = 'trigger'");
  for (const auto& row : names.rows) {
    triggers += "DROP TRIGGER " + std::get<std::string>(row.at(0)) + ";";
  }
  for (const auto& [breach, expected] : kBreaches) {
    const Scratch copy;
    std::filesystem::copy_file(scratch.path, copy.path);
    EXPECT_TRUE(copy.open(Access::read_only).check_invariants().empty());
    ASSERT_EQ(attack(copy.path, "PRAGMA foreign_keys = OFF; BEGIN;" + triggers + breach + "; COMMIT"), "") << breach;
    const std::vector<std::string> findings = copy.open(Access::read_only).check_invariants();
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                            [&](const std::string& text) { return text.find(expected) != std::string::npos; }))
        << breach << ": " << (findings.empty() ? "nothing found" : findings.front());
  }
}

}  // namespace
}  // namespace apo
