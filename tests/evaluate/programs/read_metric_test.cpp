// tests/evaluate/programs/read_metric_test.cpp - one positive number is read from what a run printed, or none.
#include "harness/evaluate/programs/read_metric.h"

#include <gtest/gtest.h>

#include <string>

#include "harness/core/text.h"
#include "tests/text.h"

namespace apo {
namespace {

ProcessResult printed(const std::string& text) {
  return {.exit_code = 0, .output = text, .seconds = 0.25};
}

double value(const std::string& metric, const std::string& text, const std::string& file = "") {
  const auto read = read_metric(parse_metric(metric), printed(text), file);
  EXPECT_TRUE(read) << (read ? "" : read.failure().evidence);
  return read ? *read : 0;
}

std::string failure(const std::string& metric, const std::string& text, const std::string& file = "") {
  const auto read = read_metric(parse_metric(metric), printed(text), file);
  EXPECT_FALSE(read) << *read;
  if (read) {
    return "";
  }
  EXPECT_EQ(read.failure().outcome, Outcome::no_metric);
  return read.failure().evidence;
}

std::string mistake(const std::string& metric) {
  return error_of([&] { static_cast<void>(parse_metric(metric)); });
}

TEST(ReadMetric, SecondsIsTheTimeOfTheRunWhateverItPrints) {
  EXPECT_EQ(value("seconds", "17"), 0.25);
}

TEST(ReadMetric, JsonTakesAPointerAndADottedPath) {
  const std::string text = R"({"results": [{"s": 1.5}, {"s": 2.5}], "a/b": 3, "x.y": 4})";
  EXPECT_EQ(value("json:/results/1/s", text), 2.5);
  EXPECT_EQ(value("json:results.1.s", text), 2.5);
  EXPECT_EQ(value("json:results[0].s", text), 1.5);
  EXPECT_EQ(value("json:[1]", "[1, 2]"), 2);
  EXPECT_EQ(value("json:/a~1b", text), 3);
  EXPECT_EQ(value("json:/x.y", text), 4);
}

TEST(ReadMetric, JsonRefusesWhatIsNoSingleNumber) {
  expect_contains(failure("json:a", "{\"a\": 1} {\"a\": 2}"), "not one JSON document");
  expect_contains(failure("json:a", ""), "not one JSON document");
  expect_contains(failure("json:b", "{\"a\": 1}"), "nothing at '/b'");
  expect_contains(failure("json:a", "{\"a\": \"1\"}"), "of type string");
  expect_contains(failure("json:a", "{\"a\": null}"), "of type null");
  expect_contains(failure("json:a.99999999999999999999", "{\"a\": [1]}"), "nothing at");
  expect_contains(failure("json:a", "{\"a\": NaN}"), "not one JSON document");
  expect_contains(failure("json:a", "{\"a\": 0}"), "has to be a positive number");
  expect_contains(failure("json:a", "{\"a\": -2}"), "has to be a positive number");
}

TEST(ReadMetric, RegexNeedsExactlyOneMatch) {
  const std::string metric = R"(regex:time = ([0-9.eE+-]+|\w+) s)";
  EXPECT_EQ(value(metric, "warm-up\r\ntime = 1.25e-3 s\r\ndone\n"), 1.25e-3);
  expect_contains(failure(metric, "nothing"), "no line of stdout matches");
  expect_contains(failure(metric, "nothing"), "it printed: nothing");
  expect_contains(failure(metric, "time = 1 s\ntime = 2 s\n"), "matches the expression 2 times");
  expect_contains(failure(metric, "time = 1 s time = 2 s\n"), "matches the expression 2 times");
  expect_contains(failure(metric, "time = nan s"), "'nan' is no finite number");
  expect_contains(failure(metric, "time = inf s"), "'inf' is no finite number");
  expect_contains(failure(metric, "time = 0 s"), "has to be a positive number");
  expect_contains(failure(metric, "time = -1 s"), "has to be a positive number");
  expect_contains(failure(metric, "time = 1 s" + std::string(5000, ' ')), "too long");
}

TEST(ReadMetric, WhatWasCutOffIsNotSearched) {
  ProcessResult run = printed("time = 1 s");
  run.cut = true;
  EXPECT_FALSE(read_metric(parse_metric("regex:time = (.) s"), run, ""));
  EXPECT_TRUE(read_metric(parse_metric("seconds"), run, ""));
}

TEST(ReadMetric, AMetricThatMakesNoSenseIsTheUsersMistake) {
  expect_contains(mistake("second"), "did you mean 'seconds'");
  expect_contains(mistake("seconds:x"), "not complete");
  expect_contains(mistake("json"), "not complete");
  expect_contains(mistake("regex:"), "not complete");
  expect_contains(mistake("gbench:"), "not complete");
  expect_contains(mistake("regex:time = [0-9"), "no regular expression");
  expect_contains(mistake("regex:time = [0-9]+"), "no capture group");
  expect_contains(mistake("json:/a~2"), "json:/results/0/seconds");
  EXPECT_EQ(mistake("gbench"), "");
  EXPECT_EQ(mistake("nvbench:copy [Device=0 N=1]"), "");
}

// ---------------------------------------------------------------- Google Benchmark

const std::string kTwo = R"({"context": {}, "benchmarks": [
  {"name": "copy/8", "run_name": "copy/8", "run_type": "iteration", "repetition_index": 0, "real_time": 3.0, "time_unit": "us"},
  {"name": "copy/8", "run_name": "copy/8", "run_type": "iteration", "repetition_index": 1, "real_time": 9.0, "time_unit": "us"},
  {"name": "copy/8", "run_name": "copy/8", "run_type": "iteration", "repetition_index": 2, "real_time": 4.0, "time_unit": "us"},
  {"name": "copy/8_mean", "run_name": "copy/8", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 5.3, "time_unit": "us"},
  {"name": "copy/8_median", "run_name": "copy/8", "run_type": "aggregate", "aggregate_name": "median", "real_time": 4.0, "time_unit": "us"},
  {"name": "fill", "run_name": "fill", "run_type": "iteration", "real_time": 2.0, "time_unit": "ms"}]})";

TEST(GoogleBenchmark, SeveralBenchmarksNeedAName) {
  EXPECT_DOUBLE_EQ(value("gbench:copy/8", kTwo), 4e-6);
  EXPECT_DOUBLE_EQ(value("gbench:fill", kTwo), 2e-3);
  const std::string several = failure("gbench", kTwo);
  expect_contains(several, "2 benchmarks");
  expect_contains(several, "copy/8, fill");
  expect_contains(failure("gbench:copy", kTwo), "no benchmark 'copy', but copy/8, fill");
  expect_contains(failure("gbench", R"({"benchmarks": []})"), "has no benchmark");
}

// ---------------------------------------------------------------- NVBench, its JSON format 1.0.0

std::string state(const std::string& name, const std::string& value,
                  const std::string& more = "\"is_skipped\": false") {
  return R"({"name": ")" + name + R"(", "device": 0, "axis_values": null, "summaries": [
    {"tag": "nv/cold/sample_size", "name": "Samples", "data": [{"name": "value", "type": "int64", "value": "12"}]},
    {"tag": "nv/cold/time/gpu/mean", "name": "GPU Time", "hint": "duration",
     "data": [{"name": "value", "type": "float64", "value": )" +
         value + "}]}], " + more + "}";
}

std::string nvbench(const std::string& states) {
  return R"({"meta": {"version": {"json": {"string": "1.0.0"}}}, "devices": [],
    "benchmarks": [{"name": "copy", "index": 0, "axes": null, "states": [)" +
         states + "]}]}";
}

TEST(Nvbench, SeveralStatesNeedTheNameOfOne) {
  const std::string two = nvbench(state("Device=0 N=1", "\"1e-6\"") + "," + state("Device=0 N=2", "\"2e-6\""));
  EXPECT_DOUBLE_EQ(value("nvbench:copy [Device=0 N=2]", "log", two), 2e-6);
  expect_contains(failure("nvbench:copy", "log", two), "2 states");
  expect_contains(failure("nvbench:copy", "log", two), "copy [Device=0 N=1], copy [Device=0 N=2]");
  expect_contains(failure("nvbench:fill", "log", two), "no benchmark 'fill'");
}

// ---------------------------------------------------------------- suites

// "name value unit; ...", a problem in place of the value; or why there is none.
std::string readings(const std::string& metric, const std::string& text, const std::string& file = "") {
  const auto read = read_suite(parse_metric(metric), printed(text), file);
  if (!read) {
    EXPECT_EQ(read.failure().outcome, Outcome::no_metric);
    return "none: " + read.failure().evidence;
  }
  std::string all;
  for (const Reading& one : *read) {
    all += (all.empty() ? "" : "; ") + one.name + " " +
           (one.problem.empty() ? format_g(one.value) + " " + one.unit : one.problem);
  }
  return all;
}

TEST(ReadSuite, EveryFormatGivesAllItsBenchmarks) {
  const struct {
    const char* metric;
    std::string text, file, expected;
  } cases[] = {
      {"gbench", kTwo, "", "copy/8 4e-06 s; fill 0.002 s"},
      {"gbench", R"({"benchmarks": [{"name": "a", "real_time": 2, "time_unit": "ms"},
        {"name": "a_BigO", "run_name": "a", "run_type": "aggregate", "aggregate_name": "BigO"},
        {"name": "b", "error_occurred": true, "error_message": "no file"}, {"name": "c", "skipped": true, "skip_message": "no GPU"}, 7]})",
       "", "a 0.002 s; b benchmark 'b' reports an error: no file; c benchmark 'c' was skipped: no GPU"},
      {"gbench", R"({"benchmarks": [
        {"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 5, "time_unit": "s"},
        {"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median", "real_time": 4, "time_unit": "s"}]})",
       "", "a 4 s"},
      {"gbench", R"({"benchmarks": [3, null, {"name": "a", "real_time": 1, "time_unit": "h"},
        {"name": "b", "real_time": "1", "time_unit": "s"}, {"name": "c", "real_time": 0, "time_unit": "s"}]})",
       "",
       "a benchmark 'a' has no real_time with a time_unit of ns, us, ms or s; "
       "b benchmark 'b' has no real_time with a time_unit of ns, us, ms or s; c 0 s"},
      {"nvbench", "log",
       nvbench(state("N=1", "\"1e-6\"") + "," + state("N=2", "2.5") + "," + state("N=3", "null") + "," +
               state("N=4", "\"nan\"") + "," +
               state("N=5", "\"1\"", R"("is_skipped": true, "skip_reason": "too big")")),
       "copy [N=1] 1e-06 s; copy [N=2] 2.5 s; copy [N=3] 'copy [N=3]' has no number nv/cold/time/gpu/mean; "
       "copy [N=4] 'copy [N=4]' has no number nv/cold/time/gpu/mean; copy [N=5] 'copy [N=5]' was skipped: too big"},
      {"nvbench", "log", "", "none: it wrote no JSON file; it printed: log"},
      {"nvbench", "log", "{", "none: its JSON file is not NVBench's"},
      {"nvbench", "log", nvbench(""), "none: the document has no benchmark"},
      {"hyperfine", "log", R"({"results": [{"command": "x --n 1", "mean": 2.0, "median": 1.5}, {"command": "y"}, 3]})",
       "x --n 1 1.5 s; y 'y' has no median"},
      {"pytest-benchmark", "log",
       R"({"benchmarks": [{"fullname": "t.py::a[1]", "stats": {"median": 0.25}}, {"fullname": "b", "stats": 3}]})",
       "t.py::a[1] 0.25 s; b 'b' has no median"},
      {"lines", "warm up\ncopy 3 us\r\nfill 2.5 GB/s\ncopy 5 us\ncopy 4000 ns\nx y z\nx nan s\n", "",
       "copy 4e-06 s; fill 2.5 GB/s"},
      {"lines", "size 3 KB\nsize 4 MB\n", "", "size 'size' is given in KB and in MB"},
      {"lines", "zero 0 s\nless -3 s\n", "", "zero 0 s; less -3 s"},
      {"gbench", "copy 3 us", "", "none: stdout is not the JSON of a Google Benchmark program"},
      {"gbench", "[]", "", "none: stdout is not the JSON of a Google Benchmark program"},
      {"gbench", R"({"benchmarks": []})", "", "none: the document has no benchmark"},
      {"gbench", R"({"benchmarks": {"name": "a"}})", "", "none: stdout is not the JSON of a Google Benchmark program"},
      {"hyperfine", "log", "", "none: it wrote no JSON file; it printed: log"},
      {"hyperfine", "log", "[]", "none: its JSON file has no list 'results'"},
      {"pytest-benchmark", "log", "{", "none: its JSON file has no list 'benchmarks'"},
      {"lines", "", "", "none: no line of stdout is NAME VALUE UNIT"},
      {"lines", std::string(100, 'x'), "",
       "none: no line of stdout is NAME VALUE UNIT; it printed: " + std::string(100, 'x')},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(readings(one.metric, one.text, one.file), one.expected);
  }
}

TEST(ReadSuite, OneOfThemIsAMetricToo) {
  EXPECT_DOUBLE_EQ(value("lines:copy", "copy 3 us\nfill 2 GB/s\n"), 3e-6);
  EXPECT_DOUBLE_EQ(value("hyperfine:x y", "log", R"({"results": [{"command": "x y", "median": 1.5}]})"), 1.5);
  expect_contains(failure("lines:none", "copy 3 us\n"), "no benchmark 'none', but copy");
  expect_contains(failure("lines:copy", "copy 0 us\n"), "positive number");
}

TEST(ReadSuite, TooManyBenchmarksAreRefused) {
  std::string lines;
  for (int i = 0; i < 10'001; ++i) {
    lines += "b" + std::to_string(i) + " 1 s\n";
  }
  expect_contains(readings("lines", lines), "more than 10000 benchmarks");
}

TEST(ShellCommand, UndecidedBenchmarksAreSelectedWhereTheProgramCan) {
  const auto command = [](const char* metric, const char* text, const std::vector<std::string>& names) {
    return shell_command(parse_metric(metric), text, "f", names);
  };
  EXPECT_EQ(command("gbench", "./b", {"copy<int>/8", "it's.a|b"}),
            R"(./b --benchmark_filter='^(copy<int>/8|it'\''s\.a\|b)$' --benchmark_format=json)");
  EXPECT_EQ(command("nvbench", "./b", {"copy [N=1]", "copy [N=2]", "fill [N=1]"}), "./b -b copy -b fill --json f");
  EXPECT_EQ(command("lines", "./b --only={filter} -v", {"a", "b"}), "./b --only='^(a|b)$' -v");
  EXPECT_EQ(command("lines", "./b --only={filter}", {}), "./b --only='.*'");
  EXPECT_EQ(command("lines", "./b", {"a"}), "./b");
  EXPECT_EQ(command("gbench", "./b --benchmark_filter={filter}", {"a"}),
            "./b --benchmark_filter='^(a)$' --benchmark_format=json");
  EXPECT_EQ(command("gbench", "./b", {std::string(200'000, 'a')}), "./b --benchmark_format=json");
}

TEST(ShellCommand, FlagsStandBehindTheCommand) {
  EXPECT_EQ(shell_command(parse_metric("seconds"), "./b", "f"), "./b");
  EXPECT_EQ(shell_command(parse_metric("gbench:x"), "./b -v", "f"), "./b -v --benchmark_format=json");
  EXPECT_EQ(shell_command(parse_metric("nvbench"), "./b", "/tmp/f"), "./b --json /tmp/f");
}

}  // namespace
}  // namespace apo
