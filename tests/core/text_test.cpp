// tests/core/text_test.cpp - splitting, parsing, nearest names, numbers with units.
#include "harness/core/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/core/records/records.h"

namespace apo {
namespace {

using Strings = std::vector<std::string>;

TEST(Text, SplitKeepsEmptyFields) {
  EXPECT_EQ(split("a,,b,", ','), (Strings{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (Strings{""}));
}

TEST(Text, SplitWordsDropsWhiteSpace) {
  EXPECT_EQ(split_words("  a\tb \n c "), (Strings{"a", "b", "c"}));
}

TEST(Text, ParseIntTakesTheWholeTextOrNothing) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int("+7"), 7);
  for (const char* bad : {"", "+", "1x", " 1", "1.0", "+-1", "99999999999999999999", "0x10"}) {
    EXPECT_EQ(parse_int(bad), std::nullopt) << bad;
  }
}

TEST(Text, ParseDoubleRefusesWhatIsNotFinite) {
  EXPECT_EQ(parse_double("1e3"), 1000.0);
  for (const char* bad : {"", "nan", "inf", "1e999", "1,5", "1 "}) {
    EXPECT_EQ(parse_double(bad), std::nullopt) << bad;
  }
}

TEST(Text, ParseDurationKnowsItsUnits) {
  EXPECT_EQ(parse_duration("90s"), 90.0);
  EXPECT_EQ(parse_duration("90"), std::nullopt) << "a time needs its unit";
  EXPECT_EQ(parse_duration("250ms"), 0.25);
  EXPECT_EQ(parse_duration("1.5m"), 90.0);
  EXPECT_EQ(parse_duration("2h"), 7200.0);
  for (const char* bad : {"", "s", "-5s", "0", "5 s", "5d", "1e300h", "nan"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

TEST(Text, NearestFindsASlipButNotAStranger) {
  const Strings names = {"e88_backward", "e88_forward", "copy"};
  EXPECT_EQ(nearest("e88_backwrd", names), "e88_backward");
  EXPECT_EQ(nearest("cpoy", names), "copy");  // two neighbours swapped count as one slip
  EXPECT_EQ(nearest("softmax", names), "");
  EXPECT_EQ(did_you_mean("zzz", names), "");
}

TEST(Text, NumbersCarryUnits) {
  EXPECT_EQ(format_ns(712000), "712 us");
  EXPECT_EQ(format_ns(2.124), "2.12 ns");
  EXPECT_EQ(format_ns(999), "999 ns");
  EXPECT_EQ(format_ns(1.234e6), "1.234 ms");
  EXPECT_EQ(format_seconds(125), "2 min 05 s");
  EXPECT_EQ(format_si(12.34e9, "flop/s"), "12.3 Gflop/s");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
}

TEST(Text, AnElementThatIsAWholeNumberHasAllItsDigits) {
  EXPECT_EQ(format_element(-774744833), "-774744833");
  EXPECT_EQ(format_element(0), "0");
  EXPECT_EQ(format_element(17.484375), "17.4844");
  EXPECT_EQ(format_element(1e300), "1e+300");
  EXPECT_EQ(format_element(std::nan("")), "nan");
  EXPECT_EQ(format_element(-HUGE_VAL), "-inf");
}

TEST(Text, ARatioHasOneFormWhateverItsSize) {
  EXPECT_EQ(format_ratio(1.0512), "1.05x");
  EXPECT_EQ(format_ratio(2.24), "2.24x");
  EXPECT_EQ(format_ratio(1), "1.00x");
  EXPECT_EQ(format_ratio(42.57), "42.6x");
  EXPECT_EQ(format_ratio(357.4), "357x");
}

TEST(Text, AMissingNumberIsSaidNotShownAsZero) {
  EXPECT_EQ(format_ns(std::numeric_limits<double>::quiet_NaN()), "not measured");
  EXPECT_EQ(format_ratio(std::numeric_limits<double>::infinity()), "not measured");
}

TEST(Text, EffectsArePercentagesUpToTwofoldAndRatiosBeyond) {
  EXPECT_EQ(format_percent(std::log(1.02)), "+2.00 %");
  EXPECT_EQ(format_percent(std::log(0.98), 3), "-2.000 %");
  EXPECT_EQ(format_percent(std::log(35.57859), 3), "35.6x");
  EXPECT_EQ(format_percent(std::log(0.25)), "0.25x");
}

template <class... Enums>
void expect_every_word_comes_back() {
  const auto expect_of = []<class Enum>(Enum) {
    int value = 0;
    for (const std::string& word : words_of<Enum>()) {
      EXPECT_EQ(value_named<Enum>(word), static_cast<Enum>(value++)) << word;
    }
    EXPECT_GE(value, 2);
  };
  (expect_of(Enums{}), ...);
}

TEST(Records, EveryWordComesBack) {
  expect_every_word_comes_back<Outcome, Verdict, Reason, GateVerdict, CachePolicy, Layout, RoundStage, BlockLimiter,
                               CampaignState, PredictionSource, BottleneckKind, Origin, LeftOutKind, ProposalState,
                               ProposerOutcome>();
  EXPECT_EQ(to_string(RoundStage::second_look), "second look");
  EXPECT_EQ(to_string(BlockLimiter::grid), "grid");
  EXPECT_EQ(outcome_from("fine"), std::nullopt);
  EXPECT_EQ(outcome_from("?"), std::nullopt);
  EXPECT_EQ(verdict_from("Accepted"), std::nullopt);
}

TEST(Records, AConfigurationNamesItsSettings) {
  EXPECT_EQ((Configuration{"copy/simple", {}}.label()), "copy/simple");
  EXPECT_EQ((Configuration{"copy/simple", {{"B", 2}, {"A", 1}}}.label()), "copy/simple[A=1,B=2]");
}

TEST(CleanLines, KeepLineEndsAndTabsAndNothingThatATerminalObeys) {
  EXPECT_EQ(clean_lines("a\tb\n\033[31mc\r\n"), "a\tb\n [31mc \n");
  EXPECT_EQ(clean_lines("\xe2\x80\xae turned \xe2\x80\xa8 ended \xd8\x9c"), "  turned   ended  ");
  EXPECT_EQ(clean_lines("caf\xc3\xa9 \xff"), "caf\xc3\xa9 ?");
}

TEST(Quotation, EveryLineIsIndented) {
  EXPECT_EQ(as_quotation("one\nverdict: accepted\n"), "  one\n  verdict: accepted\n");
  EXPECT_EQ(as_quotation(""), "");
}

TEST(Text, AShellWordIsOneWord) {
  EXPECT_EQ(shell_word("e88_backward/simple"), "e88_backward/simple");
  EXPECT_EQ(shell_word("a[K=2]"), "'a[K=2]'");
  EXPECT_EQ(shell_word("it's; rm -rf /"), "'it'\\''s; rm -rf /'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace apo
