// tests/cli/trust/verify_test.cpp - the commands that run candidates without judging their speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/core/npy.h"
#include "tests/cli/held_turn.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

using Words = std::vector<std::string>;

TEST(Verify, RightVariantPassesBothGates) {
  const Ran ran = Workplace().apo({"verify", "copy/simple", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto document = only_document(ran);
  EXPECT_EQ(document["outcome"], "valid");
  ASSERT_EQ(document["gates"].size(), 2U);
  EXPECT_EQ(document["gates"][1]["gate"], "sanitizers");
}

TEST(Verify, SaysWhereTheTimeOfAGateGoes) {
  const Ran ran = Workplace().apo({"verify", "copy/simple", "--no-sanitizers", "--json", "--verbose"});
  const auto gate = only_document(ran)["gates"][0];
  std::set<std::string> parts;
  for (const auto& step : gate["steps"]) {
    const std::string what = step["what"];
    parts.insert(what.substr(0, what.find(' ')));
    EXPECT_LE(step["begin"], step["end"]);
    EXPECT_LE(step["end"], gate["seconds"]) << what;
  }
  EXPECT_TRUE(std::ranges::includes(parts, std::set<std::string>{"build", "calls", "inputs", "worker"})) << ran.out;
  EXPECT_LE(gate["seconds"], only_document(ran)["seconds"]);
  EXPECT_NE(ran.err.find("calls on n1001"), std::string::npos) << ran.err;
}

TEST(Verify, WrongVariantFailsWithTheElement) {
  const Workplace place;
  place.write(".apo/variants/copy/wrong.cpp",
              replaced(Workplace::variant("wrong"), "y[i] = x[i]", "y[i] = i == 3 ? 7 : x[i]"));
  const Ran ran = place.apo({"verify", "copy/wrong"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.out.find("y[3]"), std::string::npos) << ran.out;
}

TEST(Verify, OfABuildThatFailsOnlyItsErrorIsShown) {
  const Workplace place;
  place.write("broken.cpp", replaced(Workplace::variant("broken"), "y[i] = x[i]", "y[i] = nowhere"));
  const Ran ran = place.apo({"verify", "--file", "broken.cpp", "--workload", "n1001"});
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_TRUE(ran.out.starts_with("copy/broken on n1001 (typical): build_failed, ")) << ran.out;
  EXPECT_NE(ran.out.find("'nowhere' was not declared"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("seed"), std::string::npos) << ran.out;
}

TEST(Verify, AFileIsCheckedWithoutBeingRegistered) {
  const Workplace place;
  place.write("mine.cpp", replaced(Workplace::variant("mine"), "y[i] = x[i]", "y[i] = i == 3 ? 7 : x[i]"));
  place.write("bare.cpp",
              "void copy(const float* x, float* y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i]; }\n");
  const Ran wrong = place.apo({"verify", "--file", "mine.cpp"});
  EXPECT_EQ(wrong.exit_code, 3) << wrong.err;
  EXPECT_NE(wrong.out.find("y[3]"), std::string::npos) << wrong.out;
  const Ran right = place.apo({"verify", "--file", "bare.cpp", "--family", "copy", "--no-sanitizers", "--json"});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_EQ(only_document(right)["variant"]["variant"], "copy/bare");
  EXPECT_NE(place.apo({"verify", "copy/bare"}).err.find("unknown variant"), std::string::npos);
}

TEST(Verify, NeedsAVariantOrAFile) {
  const Workplace place;
  EXPECT_NE(place.apo({"verify"}).err.find("no variant was given"), std::string::npos);
  EXPECT_NE(place.apo({"verify", "copy/simple", "--file", "x.cpp"}).err.find("both"), std::string::npos);
  EXPECT_NE(place.apo({"verify", "--file", "x.cpp"}).err.find("x.cpp"), std::string::npos);
}

TEST(Verify, ProgressIsLinesForAProgramThatAsks) {
  const Words words = {"verify", "copy/simple", "--no-sanitizers", "--json"};
  const Workplace place;
  EXPECT_EQ(place.apo(words).err, "") << "not without being asked";
  const Ran ran = place.apo_with_environment(words, {"APO_PROGRESS=lines"});
  EXPECT_TRUE(ran.err.starts_with("progress: verify copy/simple on ")) << ran.err;
  EXPECT_TRUE(only_document(ran).contains("gates"));
}

TEST(Verify, AVariantThatSupportsNothingHasNotPassed) {
  const Workplace place;
  place.write(".apo/variants/copy/never.cpp",
              replaced(Workplace::variant("never"), "// apo:target", "// apo:requires n < 0\n// apo:target"));
  const Ran ran = place.apo({"verify", "copy/never"});
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_NE(ran.err.find("supports none of the checked workloads"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("requires n < 0"), std::string::npos) << ran.err;
}

TEST(Verify, DumpedInputsComeBackAsTheSameCall) {
  const Workplace place;
  ASSERT_EQ(place.apo({"verify", "copy/simple", "--workload", "n1001", "--dump", "first"}).exit_code, 0);
  ASSERT_EQ(
      place.apo({"verify", "copy/memcpy", "--workload", "n1001", "--inputs", "first", "--dump", "second"}).exit_code,
      0);
  const NpyArray first = read_npy(place.path("first/y.npy"));
  EXPECT_EQ(first.shape, std::vector<std::int64_t>{1001});
  EXPECT_EQ(first.values, read_npy(place.path("second/y.npy")).values);
  EXPECT_EQ(first.values, read_npy(place.path("first/y.reference.npy")).values);
}

TEST(Verify, InputsOfAnotherWorkloadAreRefused) {
  const Workplace place;
  ASSERT_EQ(place.apo({"verify", "copy/simple", "--workload", "n1001", "--dump", "first"}).exit_code, 0);
  const Ran ran = place.apo({"verify", "copy/simple", "--workload", "n4k", "--inputs", "first"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("another shape"), std::string::npos) << ran.err;
}

TEST(Bench, MeasuresOneVariantAsOneJsonDocument) {
  const Workplace place;
  for (const Words& words :
       {Words{"bench", "copy/simple", "--workload", "n4k", "--benchmark_min_time=0.001", "--json"},
        {"bench", "copy/simple", "--workload", "n4k", "--", "--benchmark_min_time=0.001", "--benchmark_format=json"}}) {
    const Ran ran = place.apo(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const auto document = only_document(ran);
    ASSERT_EQ(document["benchmarks"].size(), 1U);
    const auto& one = document["benchmarks"][0];
    EXPECT_EQ(one["name"], "copy/simple/n4k/manual_time");
    EXPECT_GT(one["real_time"], 0.0);
    // 4096 floats are read and written: 32768 bytes a call.
    const double bytes_per_call = one["bytes_per_second"].get<double>() * one["real_time"].get<double>() * 1e-6;
    EXPECT_NEAR(bytes_per_call, 32768, 1);
  }
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db"))) << "bench needs no journal";
}

TEST(Bench, WaitsForWhoMeasuresOnItsCpus) {
  const Workplace place;
  const HeldTurn others(place);
  const Ran ran = place.apo({"bench", "copy/simple", "--workload", "n4k", "--benchmark_min_time=0.001"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(others.was_waited_for());
}

TEST(Bench, OnCudaWithoutAGpuIsTheEnvironmentsTrouble) {
  if (std::filesystem::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  for (const Words& words : {Words{"bench", "copy", "--target", "cuda"}, {"bench", "copy/cuda_simple"}}) {
    const Ran ran = Workplace().apo(words);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.rfind("apo: ", 0), 0U) << ran.err;
  }
}

TEST(Bench, AVariantOfAnotherTargetThanAskedForIsAMistake) {
  const Ran ran = Workplace().apo({"bench", "copy/simple", "--target", "cuda"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("copy/simple is for target host, and --target says cuda"), std::string::npos) << ran.err;
  EXPECT_EQ(Workplace().apo({"bench", "copy", "--target", "gpu"}).exit_code, 1);
}

// Run on a machine with a GPU, this is what proves `apo bench` there.
TEST(Bench, TimesADeviceVariantByEvents) {
  if (!std::filesystem::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "no GPU here";
  }
  for (const char* cache : {"cold", "warm"}) {
    const Ran ran = Workplace().apo({"bench", "copy/cuda_simple", "copy/simple", "--workload", "n64m", "--cache", cache,
                                     "--benchmark_min_time=0.01", "--json"},
                                    110);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const auto document = only_document(ran);
    ASSERT_EQ(document["benchmarks"].size(), 2U);
    // 512 MiB moved: no GPU does it in 20 us, and one that takes 10 ms is no GPU.
    EXPECT_GT(document["benchmarks"][0]["real_time"], 20.0);
    EXPECT_LT(document["benchmarks"][0]["real_time"], 10e3);
  }
}

TEST(Bench, FilterThatMatchesNothingIsAMistake) {
  const Ran ran = Workplace().apo({"bench", "copy", "--benchmark_filter=no_such_name"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("--benchmark_list_tests"), std::string::npos) << ran.err;
}

TEST(Bench, CandidateThatCrashesIsReportedNextToTheOthers) {
  const Workplace place;
  place.write(".apo/variants/copy/crash.cpp", replaced(Workplace::variant("crash"), "y[i] = x[i]", "__builtin_trap()"));
  const Ran ran =
      place.apo({"bench", "copy/crash", "copy/simple", "--workload", "n4k", "--benchmark_min_time=0.001", "--json"});
  EXPECT_EQ(ran.exit_code, 3);
  const auto document = only_document(ran);
  ASSERT_EQ(document["benchmarks"].size(), 2U);
  EXPECT_TRUE(document["benchmarks"][0]["error_occurred"]);
  EXPECT_GT(document["benchmarks"][1]["real_time"], 0.0);
}

TEST(Doctor, FindsTheHostWorkingAndLeavesNothingBehind) {
  const Workplace place;
  const Ran ran = place.apo({"doctor", "--json"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out;
  const auto document = only_document(ran);
  EXPECT_TRUE(document["host_works"]);
  Words names;
  for (const auto& check : document["checks"]) {
    names.push_back(check["name"]);
    EXPECT_TRUE(check["state"] == "ok" || check["fix"] != "") << check;
  }
  for (const char* name : {"compiler", "isolated worker", "sanitizers", "journal", "cuda driver"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo")));
}

TEST(Doctor, WithoutACompilerSaysHowToGetOne) {
  const Workplace place;
  const Ran ran = place.apo_with_environment({"doctor"}, {"PATH=/nowhere"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.out.find("apt-get install g++"), std::string::npos) << ran.out << ran.err;
}

}  // namespace
}  // namespace apo
