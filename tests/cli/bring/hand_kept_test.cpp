// tests/cli/bring/hand_kept_test.cpp - `apo import journal`, and where its rows are shown.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Json = nlohmann::json;

constexpr const char* kTable =
    "# hand-kept journal: a journal\n"
    "line\tscope\tsubject\taxes\ttechniques\tquantity\tunit\tbefore\tafter\tverdict\n"
    "3\tkernel\tcopy\tn=4096\tstreaming-stores\ttime\tms\t2\t1\taccepted\n"
    "9\tkernel\tcopy\tn=4096\tstreaming-stores\ttime\tms\t2\t2.1\treverted\n";

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ImportJournal, ShowsContradictionsAndKeepsTheRowsOnce) {
  const Workplace place;
  place.write("kept.tsv", kTable);
  const Ran ran = place.apo({"import", "journal", "kept.tsv"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(says(ran.out, "a journal: 2 rows, 2 measured changes and 0 promises\n")) << ran.out;
  EXPECT_TRUE(says(ran.out, "streaming-stores of copy, kernel (n=4096): +100.0 %, -4.8 % (a journal, lines 3, 9)") ||
              says(ran.out, "streaming-stores of copy, kernel (n=4096): 2.00x, -4.8 % (a journal, lines 3, 9)"))
      << ran.out;
  EXPECT_TRUE(says(ran.out, "streaming-stores is accepted, and reverted (a journal, lines 3, 9)")) << ran.out;
  EXPECT_TRUE(says(place.apo({"import", "journal", "kept.tsv"}).out, "; it was there already"));
  EXPECT_EQ(place.apo({"query", "--hand-kept", "technique=streaming-stores", "--json"}).exit_code, 0);
  EXPECT_EQ(only_document(place.apo({"query", "--hand-kept", "--json"}))["rows"].size(), 2u);
  EXPECT_TRUE(only_document(place.apo({"query", "--json"}))["rows"].empty());
}

TEST(ImportJournal, ItsRowsAreLessonsThatAreMarked) {
  const Workplace place;
  place.write("kept.tsv", kTable);
  place.apo({"import", "journal", "kept.tsv"});
  const Ran lessons = place.apo({"lessons", "--family", "copy"});
  EXPECT_TRUE(says(lessons.out, "a journal, kept by hand: nothing of it was judged here")) << lessons.out;
  EXPECT_TRUE(says(lessons.out, "weigh  copy, kernel: streaming-stores\n         2 -> 1 ms (line 3, accepted); "));
  EXPECT_FALSE(says(place.apo({"lessons", "--verdict", "accepted"}).out, "line 9"));
  const Json document = only_document(place.apo({"lessons", "--json"}));
  EXPECT_TRUE(document["lessons"].empty());
  EXPECT_EQ(document["hand_kept"][0]["document"], "a journal");
  EXPECT_EQ(document["hand_kept"][0]["measured_speedup"][0], 2.0);
  EXPECT_EQ(document["contradictions"].size(), 2u);
}

TEST(ImportJournal, ABriefHasThemMarked) {
  const Workplace place;
  place.write("kept.tsv", kTable);
  place.apo({"import", "journal", "kept.tsv"});
  const Ran ran = place.apo({"research", "copy", "--workload", "n4k", "--target", "host"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(says(ran.out, "kept by hand, not judged here: weighed little\n  streaming-stores: ")) << ran.out;
  const Json brief = only_document(place.apo({"research", "copy", "--workload", "n4k", "--target", "host", "--json"}));
  EXPECT_EQ(brief["hand_kept"][0]["source"], "a journal, lines 3, 9");
}

TEST(ImportJournal, MistakesAreNamedAndNothingIsKept) {
  const Workplace place;
  place.write("kept.tsv", kTable);
  place.write("wrong.tsv", replaced(kTable, "\t2.1\t", "\tslow\t"));
  const Ran ran = place.apo({"import", "journal", "kept.tsv", "wrong.tsv"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_TRUE(says(ran.err, "wrong.tsv:4: 'after' is no number: 'slow'")) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db")));
  EXPECT_TRUE(says(place.apo({"import", "journal"}).err, "'apo import journal' needs a file"));
  EXPECT_TRUE(says(place.apo({"query", "--hand-kept", "--commands"}).err, "were both given"));
}

}  // namespace
}  // namespace apo
