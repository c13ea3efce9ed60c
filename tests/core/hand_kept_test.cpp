// tests/core/hand_kept_test.cpp - the numbers of hand-kept journals, as speed-ups.
#include "harness/core/hand_kept/hand_kept.h"

#include <gtest/gtest.h>

#include <cmath>

namespace apo {
namespace {

HandKeptRow row(HandKeptQuantity quantity, const std::string& before, const std::string& after,
                const std::string& change = "") {
  HandKeptRow row{.line = 7, .quantity = quantity};
  row.before = stated_number(before, false).value_or(StatedNumber());
  row.after = stated_number(after, false).value_or(StatedNumber());
  row.change = stated_number(change, true).value_or(StatedNumber());
  return row;
}

TEST(StatedNumber, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(stated_number("12.5", false)->low, 12.5);
  EXPECT_EQ(stated_number("~16000", false)->high, 16000);
  EXPECT_EQ(stated_number("26..52", false)->low, 26);
  EXPECT_EQ(stated_number("26..52", false)->high, 52);
  EXPECT_EQ(stated_number("-10..-5 %", true)->low, -10);
  for (const char* wrong : {"", "12 ms", "52..26", "..", "~", "1..2..3", "nan", "x"}) {
    EXPECT_FALSE(stated_number(wrong, false)) << wrong;
  }
  for (const char* wrong : {"2", "%", "-100 %", "0 x", "-1 x", "2 y"}) {
    EXPECT_FALSE(stated_number(wrong, true)) << wrong;
  }
}

TEST(HandKept, LessTimeAndMoreThroughputAreFaster) {
  EXPECT_NEAR(middle(*measured_effect(row(HandKeptQuantity::time, "2", "1"))), std::log(2), 1e-12);
  EXPECT_NEAR(middle(*measured_effect(row(HandKeptQuantity::throughput, "1", "2"))), std::log(2), 1e-12);
  EXPECT_NEAR(middle(*measured_effect(row(HandKeptQuantity::speed, "", "", "+10 %"))), std::log(1.1), 1e-12);
  EXPECT_NEAR(middle(*measured_effect(row(HandKeptQuantity::speed, "", "", "0.5 x"))), std::log(0.5), 1e-12);
}

TEST(HandKept, ARangeIsABand) {
  const auto band = measured_effect(row(HandKeptQuantity::time, "2..4", "1"));
  EXPECT_NEAR(band->low, std::log(2), 1e-12);
  EXPECT_NEAR(band->high, std::log(4), 1e-12);
}

TEST(HandKept, ALossAShareAndHalfAPairSayNothingOfSpeed) {
  EXPECT_FALSE(measured_effect(row(HandKeptQuantity::loss, "1.3", "1.4")));
  EXPECT_FALSE(measured_effect(row(HandKeptQuantity::share, "30", "20")));
  EXPECT_FALSE(measured_effect(row(HandKeptQuantity::time, "2", "")));
}

TEST(HandKept, AFindingHasTheWordsOfTheDocument) {
  HandKeptRow one = row(HandKeptQuantity::time, "12.37", "12.90", "0.959 x");
  one.unit = "ms";
  EXPECT_EQ(finding_of(one), "12.37 -> 12.90 ms, 0.959 x");
  one = {.line = 7};
  one.predicted = *stated_number("3..5 %", true);
  EXPECT_EQ(finding_of(one), "3..5 % promised");
}

}  // namespace
}  // namespace apo
