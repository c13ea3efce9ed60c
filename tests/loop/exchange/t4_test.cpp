// tests/loop/exchange/t4_test.cpp - T4 files: written and read back, foreign ones, and what is wrong with others.
#include "harness/loop/exchange/t4.h"

#include <gtest/gtest.h>

#include <functional>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"

namespace apo {
namespace {

T4File example() {
  return {.origin = T4Origin{.variant = "copy/parallel",
                             .source_hash = "abc",
                             .workload = "n4k",
                             .machine = "a \"machine\"",
                             .cache = "cold",
                             .reference = "copy/parallel[K=64]"},
          .results = {{.timestamp = "2026-11-24T14:00:00Z",
                       .configuration = {{"K", std::int64_t{64}}, {"T", std::int64_t{-1}}},
                       .objectives = {"time"},
                       .times = {.compilation = 0.1,
                                 .benchmark = 1.0 / 3,
                                 .framework = 5e-324,
                                 .search_algorithm = 0,
                                 .validation = 2,
                                 .runtimes = {0.1, 1e300}},
                       .invalidity = Invalidity::correct,
                       .correctness = 1,
                       .measurements = {{.name = "time", .value = 0.1 + 0.2, .unit = "ms"}}},
                      {.timestamp = "",
                       .configuration = {{"K", std::int64_t{256}}, {"T", std::int64_t{-1}}},
                       .objectives = {"time"},
                       .invalidity = Invalidity::correctness,
                       .correctness = 0,
                       .reason = "correctness: element 3 of y is 0.5\n\"and so on\""}}};
}

TEST(T4, WhatIsWrittenIsReadBackTheSame) {
  const T4File file = example();
  EXPECT_EQ(parse_t4(to_text(file), "space.json"), file);
  const T4File empty = {.origin = file.origin, .results = {}};
  EXPECT_EQ(parse_t4(to_text(empty), "space.json"), empty);
}

TEST(T4, HasTheFieldNamesOfTheFormat) {
  const std::string text = to_text(example());
  for (const char* name :
       {"\"schema_version\": \"1.0.0\"", "\"metadata\": {\"timeunit\":\"milliseconds\"", "\"results\": [",
        "\"timestamp\":", "\"configuration\":{\"K\":64,\"T\":-1}", "\"objectives\":[\"time\"]",
        "\"times\":{\"compilation\":0.1,\"benchmark\":", "\"framework\":", "\"search_algorithm\":0.0",
        "\"validation\":2.0", "\"runtimes\":[0.1,1e+300]", "\"invalidity\":\"correct\"", "\"correctness\":1.0",
        "\"measurements\":[{\"name\":\"time\",\"value\":0.30000000000000004,\"unit\":\"ms\"}]"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name << " is not in " << text;
  }
}

// As Kernel Tuner's store_output_file() writes it: no metadata, words and floats among the parameters, the times of a
// configuration among its measurements, "InvalidConfig" for a time that there is not.
TEST(T4, KernelTunersOwnFilesAreRead) {
  const T4File file = parse_t4(
      R"({"results": [{"timestamp": "2024-01-01 10:00:00+00:00", "configuration": {"block_size_x": 32, "use_shared": true,
 "layout": "rows", "scale": 0.5}, "times": {"compilation": 512.1, "benchmark": 10.2, "framework": 1.5,
 "search_algorithm": 0, "validation": 0, "runtimes": [0.01, 0.02]}, "invalidity": "correct", "correctness": 1,
 "measurements": [{"name": "time", "value": 0.015, "unit": "ms"}, {"name": "times", "value": [0.01, 0.02], "unit": "ms"},
 {"name": "GFLOP/s", "value": 12.5, "unit": ""}], "objectives": ["time"]},
 {"timestamp": "2024-01-01 10:00:01+00:00", "configuration": {"block_size_x": 64, "use_shared": false, "layout": "rows",
 "scale": 0.5}, "times": {"compilation_time": 3, "benchmark": 0, "framework": 0, "search_algorithm": 0, "validation": 0,
 "runtimes": []}, "invalidity": "compile", "correctness": 1, "measurements": [{"name": "time", "value": "InvalidConfig",
 "unit": "ms"}], "objectives": ["time"]}], "schema_version": "1.0.0"})",
      "foreign.json");
  EXPECT_FALSE(file.origin);
  EXPECT_EQ(file.time_unit, "milliseconds");
  ASSERT_EQ(file.results.size(), 2U);
  EXPECT_EQ(to_text(file.results[0].configuration), "block_size_x=32, layout=rows, scale=0.5, use_shared=true");
  EXPECT_EQ(file.results[0].measurements.size(), 2U);
  EXPECT_EQ(file.results[1].invalidity, Invalidity::compile);
  EXPECT_EQ(file.results[1].times.compilation, 3);
  EXPECT_TRUE(file.results[1].measurements.empty());
}

std::string error_in(const std::string& text) {
  try {
    static_cast<void>(parse_t4(text, "space.json"));
  } catch (const UserError& error) {
    return error.what() + std::string(" | ") + error.hint();
  }
  return "no error";
}

// The error of the example with one place changed.
std::string error_with(const std::string& from, const std::string& to) {
  const std::string text = to_text(example());
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return error_in(replace_all(text, from, to));
}

void expect_in(const std::string& error, const std::string& part) {
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST(T4, NaNIsAnErrorWithItsLine) {
  expect_in(error_with("0.30000000000000004", "NaN"), "space.json:5: this is no JSON");
  expect_in(error_with("0.30000000000000004", "NaN"), "JSON has no NaN and no infinity");
  expect_in(error_with("0.30000000000000004", "-Infinity"), "JSON has no NaN and no infinity");
  expect_in(error_with("0.30000000000000004", "null"), "space.json:5: results[0].measurements[0].value is no number");
  expect_in(error_with("1e+300", "1e+999"), "space.json: number overflow");
}

TEST(T4, ATruncatedFileIsAnError) {
  const std::string text = to_text(example());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    const std::string error = error_in(text.substr(0, length));
    ASSERT_NE(error.find("this is no JSON"), std::string::npos) << length << ": " << error;
  }
  expect_in(error_in(text.substr(0, text.size() / 2)), "space.json:5: this is no JSON");
}

TEST(T4, AConfigurationThatStandsTwiceIsAnErrorWithBothLines) {
  expect_in(error_with("\"K\":256", "\"K\":64"),
            "space.json:6: results[1] is K=64, T=-1 again, as line 5 | remove one of the two");
}

TEST(T4, AParameterThatOtherResultsLackIsAnError) {
  expect_in(error_with("\"K\":256", "\"K\":256,\"CHUNK\":4"),
            "space.json:6: results[1] has a parameter 'CHUNK', which the first result lacks");
  expect_in(error_with("\"K\":256,", ""), "space.json:6: results[1] lacks the parameter 'K' of the first result");
}

TEST(T4, WhatIsMissingOrOfAnotherTypeIsNamedWithItsPlace) {
  expect_in(error_with("\"invalidity\":\"correctness\"", "\"invalidity\":\"incorrect\""),
            "space.json:6: results[1].invalidity is 'incorrect', which T4 does not know | known: correct, timeout");
  expect_in(error_with("\"benchmark\":0.0", "\"benchmark\":-1"),
            "space.json:6: results[1].times.benchmark is negative");
  expect_in(error_with("\"correctness\":0.0", "\"correctness\":\"yes\""), "results[1].correctness is no number");
  expect_in(error_with("\"times\":", "\"zeiten\":"), "space.json:5: results[0] has no 'times'");
  expect_in(error_with("\"K\":64", "\"K\":[64]"), "results[0].configuration.K is no number");
  expect_in(error_with("\"K\":64", "\"K\":18446744073709551615"),
            "results[0].configuration.K is no integer of 64 bits");
  expect_in(error_with("\"K\":64", "\"K\":64,\"K\":65"), "an object has the key 'K' twice");
  expect_in(error_with("\"results\"", "\"result\""), "space.json: has no 'results'");
  expect_in(error_in("[]"), "space.json: has no 'results'");
  expect_in(error_in(R"({"results": 5})"), "space.json: results is no list");
  expect_in(error_in(R"({"results": [5]})"), "space.json:1: results[0] has no 'times'");
  expect_in(error_in(std::string(100000, '[')), "this is no JSON");
  expect_in(error_in("\xff\xfe"), "this is no JSON");
}

TEST(T4, IsToldFromAJournalByItsContent) {
  const TemporaryFolder folder;
  const auto is_space = [&](const std::string& contents) {
    const auto path = folder.path() / "file.db";
    write_file_atomically(path, contents);
    return may_be_t4(path);
  };
  EXPECT_TRUE(is_space(to_text(example())));
  EXPECT_TRUE(is_space("  \n{\"results\": []}"));
  EXPECT_FALSE(is_space("SQLite format 3"));
  EXPECT_FALSE(is_space(""));
  EXPECT_FALSE(may_be_t4(folder.path() / "absent"));
}

}  // namespace
}  // namespace apo
