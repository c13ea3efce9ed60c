// tests/core/json/codec_test.cpp - values of every kind survive their way through JSON, and errors name their field.
#include "harness/core/json/codec.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/core/records/records.h"
#include "tests/core/json/round_trip.h"

namespace apo {
namespace codec_test {

struct Empty {
  bool operator==(const Empty&) const = default;
};

struct Row {
  int first = 1;
  std::string second;
  bool operator==(const Row&) const = default;
};
APO_FIELDS(Row, first, second)

struct Everything {
  bool flag = true;
  std::uint8_t small = 0;
  std::int64_t whole = 0;
  std::uint64_t seed = 0;
  double real = 0;
  std::string text;
  Layout layout = Layout::fixed;
  std::optional<double> maybe;
  std::optional<Row> maybe_row;
  std::vector<Row> rows;
  std::array<std::int64_t, 3> three{};
  std::map<std::string, std::int64_t> map;
  std::variant<Empty, Row, Prediction> body;
  bool operator==(const Everything&) const = default;
};
APO_FIELDS(Everything, flag, small, whole, seed, real, text, layout, maybe, maybe_row, rows, three, map, body)

}  // namespace codec_test

template <>
inline constexpr bool kIsRow<codec_test::Row> = true;

namespace codec_test {
namespace {

TEST(JsonCodec, EveryKindOfValueComesBackAsItWas) {
  expect_round_trips<Row, Everything>();
  auto one = filled<Everything>();
  one.body = filled<Row>();
  one.seed = 0xFFFF'FFFF'FFFF'FFFEu;
  one.whole = -1;
  EXPECT_EQ(from_json_text<Everything>(json_text(one)), one);
}

TEST(JsonCodec, RecordsThatCrossABoundaryComeBackAsTheyWere) {
  expect_round_trips<Machine, Toolchain, Configuration, Prediction, DeviceFacts, KernelLaunch, LaunchPlan, Metric, Roof,
                     StallSample, LineCount, SourceLine, ProposalCost>();
}

TEST(JsonCodec, VisitsMembersInOrderWithTheirNames) {
  std::string names;
  const Everything one;
  visit_fields(one, [&](std::string_view name, const auto&) { names += std::string(name) + " "; });
  EXPECT_EQ(names, "flag small whole seed real text layout maybe maybe_row rows three map body ");
}

TEST(JsonCodec, ARowHasNoNames) {
  EXPECT_EQ(json_text(Row{.first = 2, .second = "b"}), R"([2,"b"])");
  EXPECT_EQ(json_text(SourceLine{.file = "a.cu", .line = 3, .text = "x"}), R"({"file":"a.cu","line":3,"text":"x"})");
}

TEST(JsonCodec, ANumberThatIsNotFiniteIsNull) {
  EXPECT_EQ(json_text(std::vector<double>{std::nan(""), INFINITY, 1e300}), "[null,null,1e+300]");
  EXPECT_TRUE(std::isnan(from_json_text<double>("null")));
}

TEST(JsonCodec, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(from_json_text<std::string>(json_text(std::string("a\xff"))), "a\xef\xbf\xbd");
}

// Everything with one of its fields replaced.
std::string error_with(const char* field, const char* json) {
  auto document = json_of(filled<Everything>());
  document[nlohmann::ordered_json::json_pointer(field)] = nlohmann::ordered_json::parse(json);
  try {
    Everything read;
    read_json(document, read);
    return "";
  } catch (const BadField& error) {
    return error.what();
  }
}

TEST(JsonCodec, AnErrorNamesTheFieldAndWhatIsWrong) {
  EXPECT_EQ(error_with("/unknown", "1"), "") << "what the record does not have is ignored";
  EXPECT_EQ(error_with("/flag", "1"), "flag is neither true nor false");
  EXPECT_EQ(error_with("/text", "1"), "text is no text");
  EXPECT_EQ(error_with("/real", "\"1\""), "real is no number");
  EXPECT_EQ(error_with("/layout", "\"?\""), "layout is an unknown word");
  EXPECT_EQ(error_with("/layout", "1"), "layout is no word");
  EXPECT_EQ(error_with("/rows", "{}"), "rows is no list");
  EXPECT_EQ(error_with("/rows/1", "[1]"), "rows.second is missing");
  EXPECT_EQ(error_with("/maybe_row", "{}"), "maybe_row is no record");
  EXPECT_EQ(error_with("/three", "[1,2]"), "three has another length");
  EXPECT_EQ(error_with("/map", "[]"), "map is no object");
  for (const char* none : {"[0]", "[3,{}]", "[-1,{}]", "{}"}) {
    EXPECT_TRUE(error_with("/body", none).starts_with("body is")) << none;
  }
  for (const char* none : {"256", "-1", "1.5", "true", "1e300"}) {
    EXPECT_EQ(error_with("/small", none), "small is no whole number in its range") << none;
  }
  EXPECT_EQ(error_with("/whole", "9223372036854775808"), "whole is no whole number in its range");
}

}  // namespace
}  // namespace codec_test
}  // namespace apo
