// tests/loop/exchange/hand_kept_table_test.cpp - tables of hand-kept journals: what is read, and the line of what is
// not.
#include "harness/loop/exchange/hand_kept_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/research/memory/contradictions.h"

namespace apo {
namespace {

constexpr const char* kHeader = "line\ttechniques\tquantity\tunit\tbefore\tafter\tsuperseded_by\n";

std::string table(const std::string& rows, const std::string& header = kHeader) {
  return "# hand-kept journal: a journal\n# a comment\n" + header + rows;
}

std::string mistake(const std::string& text) {
  try {
    parse_hand_kept(text, "t.tsv");
    return "";
  } catch (const UserError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
}

TEST(HandKeptTable, IsReadAsItIsWritten) {
  const HandKeptJournal journal =
      parse_hand_kept(table("12\ta, b\ttime\tms\t2.5\t~2\t14\r\n14\ta\ttime\tms\t2.5\t2.6\t\n"), "t.tsv");
  EXPECT_EQ(journal.title, "a journal");
  ASSERT_EQ(journal.rows.size(), 2u);
  EXPECT_EQ(journal.rows[0].line, 12);
  EXPECT_EQ(journal.rows[0].techniques, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(journal.rows[0].after.text, "~2");
  EXPECT_EQ(journal.rows[0].superseded_by, 14);
  EXPECT_EQ(journal.rows[1].superseded_by, 0);
  EXPECT_NE(journal.sha256, parse_hand_kept(table("12\ta\ttime\tms\t2\t1\t\n"), "t.tsv").sha256);
}

TEST(HandKeptTable, AMistakeIsNamedWithItsLineAndColumn) {
  const auto row = [](const std::string& text) { return mistake(table(text + "\n")); };
  EXPECT_EQ(row("12\ta\ttime\tms\t2.5\tfast\t"),
            "t.tsv:4: 'after' is no number: 'fast' | write 12.5, ~12.5 or 12..15, and the unit in its own column");
  EXPECT_EQ(
      row("12\ta\ttimes\tms\t2.5\t2\t"),
      "t.tsv:4: 'quantity' is 'times' | did you mean 'time'?  known: time, throughput, speed, loss, share, count, "
      "size");
  EXPECT_EQ(row("0\ta\ttime\tms\t2.5\t2\t"), "t.tsv:4: 'line' is no whole number above 0: '0' | ");
  EXPECT_EQ(row("12\ta\ttime\tms\t2.5\t2"),
            "t.tsv:4: 6 fields for 7 columns | separate fields by one tab each, also where nothing is said");
  EXPECT_EQ(row("12\ta\ttime\tms\t0\t2\t"), "t.tsv:4: the row has a time that is not above 0 | ");
  EXPECT_EQ(row("\ta\ttime\tms\t1\t2\t"), "t.tsv:4: the row has no 'line' | ");
  EXPECT_NE(row("12\ta\t\tms\t1\t2\t").find("t.tsv:4: the row has a number of no quantity"), std::string::npos);
  EXPECT_NE(row("12\ta\ttime\tms\t1\t2\t13").find("t.tsv:4: no other row is from line 13"), std::string::npos);
  EXPECT_NE(row("12\ta,,b\ttime\tms\t1\t2\t").find("has an empty technique"), std::string::npos);
}

TEST(HandKeptTable, AnEmptyJournalAndOneOfAnotherKindAreMistakes) {
  EXPECT_NE(mistake("").find("t.tsv:1: the first line is no '# hand-kept journal: TITLE'"), std::string::npos);
  EXPECT_NE(mistake("line\tnote\n1\tx\n").find("t.tsv:1: the first line"), std::string::npos);
  EXPECT_NE(mistake("# hand-kept journal: x\n").find("t.tsv has no row"), std::string::npos);
  EXPECT_NE(mistake(table("")).find("t.tsv has no row"), std::string::npos);
  EXPECT_NE(mistake("\xff\xfe").find("t.tsv is not UTF-8"), std::string::npos);
  EXPECT_NE(mistake(table("12\n", "lines\n")).find("t.tsv:3: unknown column 'lines' | did you mean 'line'"),
            std::string::npos);
  EXPECT_NE(mistake(table("12\t13\n", "line\tline\n")).find("t.tsv:3: the column 'line' stands there twice"),
            std::string::npos);
  EXPECT_NE(mistake(table("x\n", "note\n")).find("t.tsv:3: there is no column 'line'"), std::string::npos);
}

std::vector<HandKeptJournal> recorded() {
  std::vector<HandKeptJournal> journals;
  for (const auto& entry : std::filesystem::directory_iterator(APO_SOURCE_FOLDER "/experiments/hand-kept")) {
    if (entry.path().extension() == ".tsv") {
      journals.push_back(read_hand_kept(entry.path()));
    }
  }
  std::ranges::sort(journals, {}, &HandKeptJournal::title);
  return journals;
}

std::vector<std::string> sentences(ContradictionKind kind) {
  std::vector<std::string> found;
  for (const Contradiction& one : find_contradictions(recorded())) {
    if (one.kind == kind) {
      found.push_back(one.sentence);
    }
  }
  return found;
}

bool one_says(const std::vector<std::string>& sentences, const std::vector<std::string>& parts) {
  return std::ranges::any_of(sentences, [&](const std::string& sentence) {
    return std::ranges::all_of(parts,
                               [&](const std::string& part) { return sentence.find(part) != std::string::npos; });
  });
}

TEST(TheE88Journal, ContradictsItselfWhereItIsKnownTo) {
  const auto effects = sentences(ContradictionKind::effects);
  EXPECT_TRUE(one_says(effects, {"fused-l2-norm of E88 training", "+2.4 %", "+0.1 %", "841", "1160"}));
  EXPECT_TRUE(one_says(effects, {"fused-l2-norm of e88_forward+e88_backward", "B=2", "10.4 %, -5.7 %", "799, 833"}));
  const auto numbers = sentences(ContradictionKind::numbers);
  EXPECT_TRUE(one_says(numbers, {"time of e88_backward, kernel", "12.37, 13.78, 4.063 ms", "826, 1067, 1150"}));
  EXPECT_TRUE(one_says(numbers, {"count of E88 model layers: 17, 14", "19, 494, 606"}));
  EXPECT_TRUE(one_says(sentences(ContradictionKind::devices),
                       {"one device under 4 names: A100 80GB, A100/RTX 4090, RTX 6000 Ada, A100/RTX 6000 Ada"}));
  EXPECT_TRUE(
      one_says(sentences(ContradictionKind::left_in), {"pre-gated-cache is reverted, and in the code", "1129"}));
  EXPECT_EQ(sentences(ContradictionKind::arithmetic), std::vector<std::string>());
}

}  // namespace
}  // namespace apo
