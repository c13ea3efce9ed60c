// tests/cli/trust/application_test.cpp - `apo application compare` on a program that trains with an exported dispatch,
// with kernels that are slow, wrong, or misbehave; and a campaign that ends with it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/core/hash.h"
#include "harness/core/system/process.h"
#include "harness/core/text.h"
#include "tests/cli/workplace.h"

namespace apo {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

const fs::path kSource = APO_SOURCE_FOLDER;
const std::string kExample = (kSource / "examples" / "softmax_training").string();

// What a kernel does, around a softmax that is right.
std::string kernel(const std::string& first, const std::string& last = "") {
  return R"(#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

void row_softmax(const float* x, float* y, int64_t rows, int64_t cols) {
  static int calls = 0;
  ++calls;
  )" + first +
         R"(
  for (int64_t r = 0; r < rows; ++r) {
    float sum = 0, largest = x[r * cols];
    for (int64_t c = 0; c < cols; ++c) largest = x[r * cols + c] > largest ? x[r * cols + c] : largest;
    for (int64_t c = 0; c < cols; ++c) sum += y[r * cols + c] = std::exp(x[r * cols + c] - largest);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= sum;
  }
  )" + last +
         "\n}\n";
}

const std::string kRight = kernel("");
// Some six times the work: no noise of this machine hides it.
const std::string kSlow = kernel(
    "for (volatile int i = 0; i < 5; i = i + 1) { float s = 0; for (int64_t k = 0; k < rows * cols; ++k) s += y[k] = "
    "std::exp(x[k]); y[0] = s; }");
// One class in eight keeps a gradient that is wrong.
const std::string kWrongGradient = kernel("", "for (int64_t k = 0; k < rows * cols; k += 8) y[k] *= 0.2f;");

void run_or_fail(const Words& command, const Words& environment = {}) {
  const ProcessResult ran = run_process(command, {.environment = environment});
  ASSERT_TRUE(ran.ok()) << join(command, " ") << "\n" << ran.output << ran.error;
}

// The dispatch of a recorded journal, prepared: the program, and a kernel that each test puts in its place. Tests are
// processes of their own, and share what one of them prepared.
class Built {
 public:
  Built() {
    const TemporaryFolder folder;
    const Workplace place;
    const Ran exported =
        place.apo({"export", "--dispatch", "row_softmax", "--fallback", "row_softmax/simple", "--with-sources",
                   "--journal", (kSource / "experiments/host-xeon/journal.db").string(), "--output", folder.path()});
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    std::string made_from;
    for (const fs::path& source : {folder.path() / "row_softmax_dispatch.h", fs::path(kExample) / "training.cpp",
                                   fs::path(kExample) / "prepare.sh"}) {
      made_from += read_file(source);
    }
    path_ = fs::path(APO_BINARY_FOLDER) / "test-applications" / sha256(made_from);
    if (!fs::exists(path_)) {
      run_or_fail({"sh", kExample + "/prepare.sh"}, {"APO_DISPATCH=" + folder.path().string()});
      const fs::path draft = path_.string() + "." + std::to_string(getpid());
      fs::create_directories(path_.parent_path());
      fs::copy(folder.path(), draft, fs::copy_options::recursive);
      std::error_code another_test_was_first;
      fs::rename(draft, path_, another_test_was_first);
    }
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const Built& built() {
  static const Built once;
  return once;
}

struct ApplicationCommand : ::testing::Test {
  void dispatch(const std::string& name, const std::string& source) const {
    fs::copy(built().path(), place.path(name), fs::copy_options::recursive);
    place.write(name + "/kernel.cpp", source);
    run_or_fail({"g++", "-O2", "-march=native", "-shared", "-fPIC", place.path(name + "/kernel.cpp"), "-o",
                 place.path(name + "/kernel.so")});
  }
  // With the key's value in place of the declared one.
  void declare(const std::string& key = "comment", const Json& value = "") const {
    Json application = {{"command", "\"$APO_DISPATCH/training\""},
                        {"metrics",
                         {{{"name", "step"}, {"role", "speed"}},
                          {{"name", "loss"}, {"role", "quality"}, {"margin", 0.01}, {"last", 10}}}},
                        {"warmup_steps", 5},
                        {"steps", 150},
                        {"seeds", {1, 2, 3, 4, 5}},
                        {"pairs", 10},
                        {"time_limit", "20s"}};
    if (key != "comment") {
      application[key] = value;
    }
    place.write("application.json", Json{{"application", application}}.dump());
  }
  Json compare(const std::string& a, const std::string& b, const Words& more = {}) const {
    Words words = {"application",      "compare",  a,      b,        "--application",
                   "application.json", "--target", "host", "--json", "-q"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = place.apo(words, 120);
    const Json judged = only_document(ran);
    const bool refused = judged["reason"] == "gate_failed" || judged["reason"] == "quality_lost";
    EXPECT_EQ(ran.exit_code, refused ? 3 : 0) << ran.err;
    return judged;
  }
  // The kernel in one arm alone.
  Json compare_with_fault(const std::string& source) const {
    declare("time_limit", "3s");
    dispatch("right", kRight);
    dispatch("fault", source);
    return compare("right", "fault");
  }

  const Workplace place;
};

TEST_F(ApplicationCommand, AFasterKernelThatLearnsAsWellIsAcceptedAndKept) {
  declare();
  dispatch("slow", kSlow);
  dispatch("right", kRight);
  const Json judged = compare("slow", "right", {"--fixed-time", "300ms"});
  EXPECT_EQ(judged["verdict"], "accepted") << judged["sentence"];
  ASSERT_EQ(judged["speeds"].size(), 2U);
  EXPECT_GT(judged["speeds"][0]["lower"].get<double>(), 1);
  EXPECT_GT(judged["speeds"][0]["start_up_a_s"].get<double>(), 0);
  EXPECT_EQ(judged["qualities"][0]["finding"], "equivalent");
  EXPECT_EQ(judged["qualities"][0]["seeds"], 5);
  EXPECT_EQ(judged["runs"].size(), 40U);
  EXPECT_TRUE(judged["expectation"].contains("missing"));

  const Ran rows = place.apo({"query", "--csv", "-q", "--sql",
                              "SELECT verdict, reason, speedup > 1, pairs, quality FROM application_comparisons"});
  EXPECT_EQ(rows.out, "verdict,reason,speedup > 1,pairs,quality\r\naccepted,faster,1,10,loss equivalent\r\n")
      << rows.err;
  const Ran none = place.apo({"query"});
  EXPECT_NE(none.err.find("comparisons by an application: 1 (apo show a1"), std::string::npos) << none.err;
  for (const Json& check : only_document(place.apo({"doctor", "--json"}))["checks"]) {
    EXPECT_FALSE(check["name"] == "journal" && check["state"] == "broken") << check;
  }
}

TEST_F(ApplicationCommand, TheSameDispatchTwiceIsNotAccepted) {
  declare();
  dispatch("right", kRight);
  EXPECT_NE(compare("right", "right")["verdict"], "accepted");
}

TEST_F(ApplicationCommand, AComparisonIsShownWithItsRunsAndRepeated) {
  const Json judged = compare_with_fault(kernel("if (calls == 9) abort();"));
  const Ran shown = place.apo({"show", "a1"});
  for (const char* part : {"comparison a1 of two dispatches", "faulted", "SIGABRT", "loss "}) {
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << " is not in " << shown.out << shown.err;
  }
  EXPECT_EQ(only_document(place.apo({"show", "a1", "--json"})), judged);
  const Json again = only_document(place.apo({"replay", "a1", "-q", "--json"}, 120));
  EXPECT_EQ(again["reproduced"], true) << again["because"];
  EXPECT_EQ(again["comparison"]["id"], 2);
  EXPECT_NE(again["comparison"]["dispatch_b"], "") << again;

  fs::remove_all(place.path("fault"));
  const Ran gone = place.apo({"replay", "a1", "-q"});
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_NE(gone.err.find("which is gone"), std::string::npos) << gone.err;
  EXPECT_NE(place.apo({"show", "a9"}).err.find("there is no comparison a9"), std::string::npos);
  EXPECT_NE(place.apo({"show", "a1", "--log"}).err.find("prints every run"), std::string::npos);
}

TEST_F(ApplicationCommand, AFasterKernelWithAWrongGradientLosesByItsQuality) {
  declare();
  dispatch("slow", kSlow);
  dispatch("wrong", kWrongGradient);
  const Json judged = compare("slow", "wrong");
  EXPECT_EQ(judged["verdict"], "reverted");
  EXPECT_EQ(judged["reason"], "quality_lost") << judged["sentence"];
  EXPECT_EQ(judged["qualities"][0]["finding"], "worse");
  EXPECT_GT(judged["speeds"][0]["lower"].get<double>(), 1) << "what it gained is shown beside it";
}

TEST_F(ApplicationCommand, TheProgramCannotTellWhichDispatchItHas) {
  declare("command", "echo \"$APO_DISPATCH\" >> seen; \"$APO_DISPATCH/training\"");
  dispatch("incumbent", kRight);
  dispatch("candidate", kRight);
  compare("incumbent", "candidate");
  const Words seen = split(trim(read_file(place.path("seen"))), '\n');
  ASSERT_GE(seen.size(), 20U);  // more where the first pair was too short
  EXPECT_EQ(each_once(seen).size(), seen.size()) << "each run has a path of its own";
  for (const std::string& path : seen) {
    EXPECT_EQ(path.find("incumbent"), std::string::npos);
    EXPECT_EQ(path.find("candidate"), std::string::npos);
    EXPECT_EQ(path.size(), seen.front().size());
    EXPECT_FALSE(fs::exists(path)) << "it is gone with its run";
  }
}

TEST_F(ApplicationCommand, WhatARunWritesIntoItsDispatchReachesNoOtherRun) {
  declare("command", "[ ! -e \"$APO_DISPATCH/trace\" ] && touch \"$APO_DISPATCH/trace\" && \"$APO_DISPATCH/training\"");
  dispatch("right", kRight);
  EXPECT_EQ(compare("right", "right")["outcome"], "valid");
  EXPECT_FALSE(fs::exists(place.path("right/trace")));
}

TEST_F(ApplicationCommand, AHangIsEndedAtItsDeadline) {
  const Json judged = compare_with_fault(kernel("while (calls > 8) pause();"));
  EXPECT_EQ(judged["outcome"], "timed_out") << judged["sentence"];
  EXPECT_EQ(judged["failed"], "b");
  EXPECT_EQ(judged["verdict"], "reverted");
  EXPECT_EQ(judged["runs"].size(), 2U) << "the pair is whole, and the last";
}

TEST_F(ApplicationCommand, ACrashInOneArmIsThatArms) {
  const Json judged = compare_with_fault(kernel("if (calls == 9) abort();"));
  EXPECT_EQ(judged["outcome"], "faulted");
  EXPECT_EQ(judged["failed"], "b");
  EXPECT_EQ(judged["reason"], "gate_failed");
  EXPECT_NE(judged["sentence"].get<std::string>().find("SIGABRT"), std::string::npos) << judged["sentence"];
}

TEST_F(ApplicationCommand, ACrashInBothArmsIsTheApplications) {
  declare();
  dispatch("crashes", kernel("abort();"));
  const Json judged = compare("crashes", "crashes");
  EXPECT_EQ(judged["failed"], "both");
  EXPECT_EQ(judged["verdict"], "inconclusive");
}

TEST_F(ApplicationCommand, ALossThatIsNoNumberVoidsTheRun) {
  const Json judged =
      compare_with_fault(kernel("",
                                "if (calls == 9) y[0] = y[1] = y[2] = NAN;\n"
                                "if (calls == 9) for (int64_t k = 0; k < rows * cols; ++k) y[k] = NAN;"));
  EXPECT_EQ(judged["outcome"], "not_finite") << judged["sentence"];
  EXPECT_EQ(judged["failed"], "b");
}

TEST_F(ApplicationCommand, MemoryThatIsNotThereHasAnOutcomeOfItsOwn) {
  const Json judged =
      compare_with_fault(kernel("if (calls == 9) { std::fprintf(stderr, \"%p\", (void*)new char[1L << 60]); }"));
  EXPECT_EQ(judged["outcome"], "out_of_memory") << judged["sentence"];
}

TEST_F(ApplicationCommand, ProcessesThatAreLeftBehindAreFoundAndEnded) {
  const std::string pid = place.path("pid");
  const Json judged =
      compare_with_fault(kernel("if (calls == 9 && fork() == 0) { setsid(); FILE* f = fopen(\"" + pid +
                                "\", \"w\"); fprintf(f, \"%d\", getpid()); fclose(f); sleep(60); _exit(0); }"));
  EXPECT_EQ(judged["outcome"], "left_processes") << judged["sentence"];
  EXPECT_NE(kill(static_cast<pid_t>(parse_int(trim(read_file(pid))).value()), 0), 0) << "it still runs";
}

TEST_F(ApplicationCommand, AProgramWithoutAMetricOrWithTwoIsNotJudged) {
  dispatch("right", kRight);
  declare("command", "echo done");
  EXPECT_EQ(compare("right", "right")["outcome"], "no_metric");
  declare("command", "\"$APO_DISPATCH/training\" | awk '{ print; fflush() } NR == 9 { print; fflush() }'");
  const Json twice = compare("right", "right");
  EXPECT_EQ(twice["outcome"], "no_metric");
  EXPECT_NE(twice["sentence"].get<std::string>().find("step 9 has two lines"), std::string::npos) << twice["sentence"];
}

TEST_F(ApplicationCommand, ABufferedProgramIsToldToFlush) {
  dispatch("slow", kSlow);
  declare("command", "\"$APO_DISPATCH/training\" > lines; cat lines");
  const Json judged = compare("slow", "slow");
  EXPECT_EQ(judged["outcome"], "unstable_clock") << judged["sentence"];
}

TEST_F(ApplicationCommand, LinesThatComeLateInOneRunOnlyAreNotHeldAgainstTheProgram) {
  dispatch("right", kRight);
  declare("command",
          "if mkdir late; then \"$APO_DISPATCH/training\" > lines; cat lines; else \"$APO_DISPATCH/training\"; fi");
  EXPECT_EQ(compare("right", "right")["outcome"], "valid");
}

TEST_F(ApplicationCommand, NoiseBeyondTheMarginIsInconclusiveWithTheNumberOfSeedsItNeeds) {
  Json metrics = {{{"name", "step"}, {"role", "speed"}},
                  {{"name", "loss"}, {"role", "quality"}, {"margin", 1e-9}, {"last", 10}}};
  dispatch("slow", kSlow);
  // Off by -0.7, -0.4, 0.1, 0.8 and 1.7 % for the five seeds: the loss is more or less by as much.
  dispatch("noisy", kernel("const int seed = std::atoi(std::getenv(\"APO_SEED\"));",
                           "for (int64_t k = 0; k < rows * cols; ++k) y[k] *= 1 + 1e-3f * (seed * seed - 8);"));
  declare("metrics", metrics);
  const Json judged = compare("slow", "noisy");
  EXPECT_EQ(judged["verdict"], "inconclusive") << judged["sentence"];
  EXPECT_EQ(judged["qualities"][0]["finding"], "inconclusive");
  EXPECT_GT(judged["qualities"][0]["seeds_needed"].get<int>(), 5);
}

TEST_F(ApplicationCommand, ADispatchThatCannotBePreparedIsReverted) {
  declare("prepare", "test ! -e \"$APO_DISPATCH/broken\"");
  dispatch("right", kRight);
  dispatch("broken", kRight);
  place.write("broken/broken", "");
  const Json judged = compare("right", "broken");
  EXPECT_EQ(judged["outcome"], "build_failed");
  EXPECT_EQ(judged["verdict"], "reverted");
  const Ran other = place.apo({"application", "compare", "broken", "right", "--application", "application.json", "-q"});
  EXPECT_EQ(other.exit_code, 1) << "with A nothing can be compared";
}

TEST_F(ApplicationCommand, ALibraryMayBeNamedInPlaceOfAFolder) {
  dispatch("right", kRight);
  // The program looks for kernel.so in the folder that it is given.
  declare("command", "mkdir -p d$$ && cp \"$APO_DISPATCH\" d$$/kernel.so && APO_DISPATCH=$PWD/d$$ right/training");
  const Json judged = compare("right/kernel.so", "right/kernel.so");
  EXPECT_EQ(judged["outcome"], "valid") << judged["sentence"];
}

// Faster where the campaign measures it, and slower at the size that the program uses.
TEST_F(ApplicationCommand, ACampaignEndsWithTheApplicationAndSaysThatItRefuses) {
  const auto variant = [](const std::string& name, const std::string& source) {
    return "// apo:variant    row_softmax/" + name + "\n// apo:target     host\n// apo:technique  " + name +
           "\n// apo:idea       Takes its time.\n" + source;
  };
  fs::create_directory_symlink(kSource / "harness", place.path("harness"));
  fs::create_directory(place.path("kernels"));
  for (const auto& entry : fs::directory_iterator(kSource / "kernels")) {
    fs::create_symlink(entry.path(), place.path("kernels") / entry.path().filename());
  }
  fs::remove(place.path("kernels/row_softmax.h"));
  place.write("kernels/row_softmax.h",  // with a workload whose calls are short
              replaced(replaced(read_file(kSource / "kernels/row_softmax.h"), "r256_c4096", "r128_c600 "),
                       "rows=256 cols=4096", "rows=128 cols=600"));
  place.write("variants/row_softmax/slow.cpp", variant("slow", replaced(kSlow, "i < 5", "i < 1")));
  place.write(
      "variants/row_softmax/tuned.cpp",
      variant("tuned", kernel("for (volatile int i = 0; cols == 512 && i < 5; i = i + 1) { float s = 0; for "
                              "(int64_t k = 0; k < rows * cols; ++k) s += y[k] = std::exp(x[k]); y[0] = s; }")));
  declare("prepare", "sh '" + kExample + "/prepare.sh'");
  Json campaign = Json::parse(read_file(place.path("application.json")));
  campaign.update(Json{{"family", "row_softmax"},
                       {"workloads", {"r128_c600"}},
                       {"baseline", "row_softmax/slow"},
                       {"judge_preset", "standard"},
                       {"target", "host"}});
  place.write("campaign.json", campaign.dump());
  const ProcessResult ran = run_process(
      {APO_PROGRAM, "run", "--campaign", "campaign.json", "--iterations", "1", "--json", "-q"},
      {.timeout_s = 1000,
       .working_folder = place.path(""),
       .environment = {"APO_HOME=" + place.path("").string(), "APO_JOURNAL=",
                       "APO_CACHE=" APO_BINARY_FOLDER "/test-cache", "XDG_RUNTIME_DIR=" + place.path("").string()}});
  if (ran.exit_code == 2 && ran.error.find("A/A sentinel") != std::string::npos) {
    GTEST_SKIP() << ran.error;  // this machine is too restless to judge on
  }
  ASSERT_EQ(ran.exit_code, 3) << ran.output << ran.error;
  const Json summary = Json::parse(ran.output);
  EXPECT_EQ(summary["incumbent"]["variant"], "row_softmax/tuned");
  const Json& judged = summary["application"];
  EXPECT_EQ(judged["verdict"], "reverted") << judged["sentence"];
  EXPECT_EQ(judged["reason"], "regression");
  EXPECT_EQ(judged["campaign"], summary["campaign"]);
  const std::string report = read_file(summary["report"].get<std::string>());
  EXPECT_NE(report.find("The application refuses the incumbent"), std::string::npos);
  EXPECT_NE(report.find("## Application"), std::string::npos);
  const Ran rows =
      place.apo({"query", "--csv", "-q", "--sql", "SELECT campaign, verdict FROM application_comparisons"});
  EXPECT_EQ(rows.out, "campaign,verdict\r\n1,reverted\r\n") << rows.err;
  const Ran withdrawn = place.apo({"export", "--dispatch", "row_softmax", "--json"});
  EXPECT_EQ(withdrawn.exit_code, 1);
  EXPECT_NE(withdrawn.err.find("refused row_softmax/tuned"), std::string::npos) << withdrawn.err;
  const Ran all_the_same = place.apo({"export", "--dispatch", "row_softmax", "--refused", "--output", "table"});
  EXPECT_EQ(all_the_same.exit_code, 0);
  EXPECT_NE(all_the_same.err.find("exported, row_softmax class"), std::string::npos) << all_the_same.err;
  EXPECT_NE(all_the_same.out.find("refused by its application in comparison a1"), std::string::npos)
      << all_the_same.out;
}

TEST_F(ApplicationCommand, MistakesNameTheFix) {
  declare();
  const Ran absent = place.apo({"application", "compare", "no", "no", "--application", "application.json"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_NE(absent.err.find("there is no dispatch 'no'"), std::string::npos) << absent.err;
  place.write("other.json", "{}");
  const Ran other = place.apo({"application", "compare", "no", "no", "--application", "other.json"});
  EXPECT_NE(other.err.find("declares no application"), std::string::npos) << other.err;
}

}  // namespace
}  // namespace apo
