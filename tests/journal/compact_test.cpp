// tests/journal/compact_test.cpp - a compacted journal is smaller, and says the same but for its samples.
#include "journal/facts/experiments.h"
#include "journal/facts/profiles.h"
#include "journal/facts/variants.h"
#include "journal/query/queries.h"
#include "tests/journal/journal_test.h"
#include "tests/text.h"

namespace apo {
namespace {

using namespace apo::test;

StallSample sample(std::int64_t offset, int line, const char* stall, std::int64_t samples) {
  return {.kernel = "k", .pc_offset = offset, .file = "a.cu", .line = line, .stall = stall, .samples = samples};
}

class Compact : public PreparedTest {
 protected:
  Compact() {
    Experiment experiment = an_experiment(0, 0);
    experiment.id = begin_experiment(journal, experiment);
    finish_experiment(journal, experiment);
    add_profile(journal,
                {.configuration = experiment.incumbent,
                 .stalls = {sample(16, 4, "wait", 9), sample(32, 5, "barrier", 7), sample(48, 5, "barrier", 6),
                            sample(64, 5, "wait", 1)}},
                {.machine = "cpu-1"});
  }
};

TEST_F(Compact, RoundsKeepAllButTheirTimedCalls) {
  Experiment expected = load_experiment(journal, 1);
  for (Round& round : expected.rounds) {
    for (RoundWorkload& workload : round.workloads) {
      workload.blocks.clear();
      workload.warmup.clear();
    }
  }
  const Compacted done = compact(journal);
  EXPECT_GT(done.rounds, 0);
  EXPECT_LT(done.bytes_after, done.bytes_before);
  const Experiment after = load_experiment(journal, 1);
  EXPECT_EQ(after, expected);
  EXPECT_EQ(find_variant(journal, after.candidate_source_hash)->source, a_variant("padded_cache").source);
  EXPECT_TRUE(journal.check_integrity().empty());
}

TEST_F(Compact, PcSamplesOfOneLineAndStateAreOneRowTheMostFrequentFirst) {
  EXPECT_EQ(compact(journal).sampled_rows, 1);
  const std::vector<StallSample> stalls = load_profile(journal, 1).stalls;
  ASSERT_EQ(stalls.size(), 3U);
  EXPECT_EQ(stalls[0].stall, "barrier");
  EXPECT_EQ(stalls[0].samples, 13);
  EXPECT_EQ(stalls[0].pc_offset, 32);
  EXPECT_EQ(stalls[1].samples, 9);
  EXPECT_EQ(stalls[2].samples, 1);
}

TEST_F(Compact, ASecondTimeFindsNothingAndTheJournalIsWrittenOn) {
  compact(journal);
  const Compacted again = compact(journal);
  EXPECT_EQ(again.rounds, 0);
  EXPECT_EQ(again.sampled_rows, 0);
  EXPECT_EQ(attack(scratch.path, "UPDATE round_workload SET samples = x'01'"), "the journal is append-only");
  EXPECT_EQ(attack(scratch.path, "DELETE FROM stall_sample"), "the journal is append-only");
  EXPECT_GT(add_quick(journal, {}), 1);
}

TEST_F(Compact, WaitsForNobodyWhoHasItOpen) {
  const Journal other = scratch.open();
  EXPECT_NE(error_of([&] { compact(journal); }), "");
  EXPECT_TRUE(journal.check_integrity().empty());
}

}  // namespace
}  // namespace apo
