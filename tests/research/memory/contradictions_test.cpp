// tests/research/memory/contradictions_test.cpp - which rows contradict each other, and which only look like it.
#include "harness/research/memory/contradictions.h"

#include <gtest/gtest.h>

namespace apo {
namespace {

HandKeptRow timed(int line, const std::string& before, const std::string& after, Axes axes = {{"B", 16}}) {
  HandKeptRow row{.line = line,
                  .scope = HandKeptScope::kernel,
                  .subject = "toy",
                  .axes = std::move(axes),
                  .techniques = {"x"},
                  .quantity = HandKeptQuantity::time,
                  .unit = "ms"};
  row.before = *stated_number(before, false);
  row.after = *stated_number(after, false);
  return row;
}

std::vector<std::string> found(std::vector<HandKeptRow> rows) {
  std::vector<std::string> kinds;
  for (const Contradiction& one : find_contradictions({{.title = "j", .rows = std::move(rows)}})) {
    kinds.emplace_back(to_string(one.kind));
  }
  return kinds;
}

using Kinds = std::vector<std::string>;

TEST(Contradictions, TwoEffectsOfOneChangeAreOneAndNameTheirLines) {
  const auto all = find_contradictions({{.title = "j", .rows = {timed(3, "10", "9"), timed(8, "10", "10.5")}}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, ContradictionKind::effects);
  EXPECT_EQ(all[0].sentence, "x of toy, kernel (B=16): +11.1 %, -4.8 % (j, lines 3, 8)");
  EXPECT_EQ(all[0].lines, (std::vector<std::string>{"j, line 3", "j, line 8"}));
}

TEST(Contradictions, EffectsThatAgreeToHalfOfTheLargerAreNone) {
  EXPECT_EQ(found({timed(1, "10", "8"), timed(2, "10", "8.5")}), Kinds{});
  EXPECT_EQ(found({timed(1, "10", "10"), timed(2, "10", "10.05")}), Kinds{}) << "both are nothing";
}

TEST(Contradictions, OtherSizesOrUnstatedOnesAreNotTheSame) {
  EXPECT_EQ(found({timed(1, "10", "9"), timed(2, "10", "11", {{"B", 2}})}), Kinds{});
  EXPECT_EQ(found({timed(1, "10", "9"), timed(2, "10", "11", {})}), Kinds{}) << "no size in common";
  EXPECT_EQ(found({timed(1, "10", "9"), timed(2, "10", "11", {{"B", 16}, {"T", 512}})}), Kinds{"effects"});
}

TEST(Contradictions, OneConfigurationUnderTwoTimesIsOne) {
  EXPECT_EQ(found({timed(1, "10", "9"), timed(2, "13", "11.7")}), Kinds{"numbers"});
  EXPECT_EQ(found({timed(1, "10", "9"), timed(2, "11.9", "10.7")}), Kinds{}) << "less than a fifth apart";
}

TEST(Contradictions, CountsDifferAtOnce) {
  HandKeptRow layers{.line = 1, .subject = "layers", .quantity = HandKeptQuantity::count};
  layers.after = *stated_number("17", false);
  HandKeptRow fewer = layers;
  fewer.after = *stated_number("14", false);
  EXPECT_EQ(found({layers, layers}), Kinds{});
  EXPECT_EQ(found({layers, fewer}), Kinds{"numbers"});
}

TEST(Contradictions, OneDeviceHasOneNameADocument) {
  HandKeptRow one{.line = 1, .device_claimed = "A100", .device_deduced = "RTX 6000"};
  HandKeptRow other{.line = 2, .device_claimed = "RTX 4090", .device_deduced = "RTX 6000"};
  EXPECT_EQ(found({one, other}), Kinds{"devices"});
  EXPECT_TRUE(find_contradictions({{.title = "a", .rows = {one}}, {.title = "b", .rows = {other}}}).empty());
}

TEST(Contradictions, AVerdictHoldsForTheCodeAndOnce) {
  HandKeptRow reverted{.line = 1, .techniques = {"x"}, .verdict = Verdict::reverted};
  HandKeptRow accepted{.line = 2, .techniques = {"x"}, .verdict = Verdict::accepted};
  HandKeptRow in_code{.line = 3, .techniques = {"x"}, .in_code = true};
  HandKeptRow another{.line = 4, .techniques = {"y"}, .in_code = true};
  EXPECT_EQ(found({reverted, accepted}), Kinds{"verdicts"});
  EXPECT_EQ(found({reverted, in_code}), Kinds{"left_in"});
  EXPECT_EQ(found({reverted, another}), Kinds{});
}

TEST(Contradictions, AChangeIsThatOfItsOwnNumbers) {
  HandKeptRow row = timed(1, "10", "9");
  row.change = *stated_number("11 %", true);
  EXPECT_EQ(found({row}), Kinds{});
  row.change = *stated_number("1.5 x", true);
  EXPECT_EQ(found({row}), Kinds{"arithmetic"});
}

TEST(Contradictions, AnEmptyJournalHasNone) {
  EXPECT_TRUE(find_contradictions({}).empty());
  EXPECT_EQ(found({}), Kinds{});
}

}  // namespace
}  // namespace apo
