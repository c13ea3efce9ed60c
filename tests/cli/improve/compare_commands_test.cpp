// tests/cli/improve/compare_commands_test.cpp - `apo compare` and `apo gate` on two commands, and what shows them
// later.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "harness/evaluate/judge/preset.h"
#include "tests/cli/workplace.h"
#include "tests/processes.h"

namespace apo {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Metrics with 0.1 % of noise from a seed: no verdict depends on the machine, and chance (the order of each round is
// secret) can't move identical commands apart by the 0.25 % at which the sentinel stops.
std::string noisy(const std::string& seed, const std::string& centre) {
  return "n=$(cat n" + seed + " 2>/dev/null || echo 0); echo $((n + 1)) > n" + seed + "; awk -v s=" + seed +
         " -v n=$n -v c=" + centre +
         " 'BEGIN { srand(7919 * s + n); rand(); x = 0; for (i = 0; i < 12; ++i) x += rand();"
         " printf \"{\\\"t\\\": %.9g}\\n\", c * (1 + 0.001 * (x - 6)) }'";
}

struct Commands : ::testing::Test {
  Ran run(const std::string& word, const std::string& a, const std::string& b, const Words& more) const {
    Words words = {word, "--command-a", a, "--command-b", b, "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return place.apo(words, 120);
  }
  Ran compare(const std::string& a, const std::string& b, const Words& more = {"--metric", "json:t"}) const {
    return run("compare", a, b, more);
  }
  Ran gate(const std::string& a, const std::string& b, const Words& more = {"--metric", "json:t"}) const {
    return run("gate", a, b, more);
  }

  void expect_mistake(const Ran& ran, const std::string& said) const {
    EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err.find(said), std::string::npos) << ran.err;
  }

  const Workplace place;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Commands, AKnownGainIsAcceptedAndSaysThatNothingWasCheckedOfCorrectness) {
  const Ran ran = compare(noisy("1", "100"), noisy("2", "94"));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "x better, 98 % interval [")) << ran.out;
  EXPECT_TRUE(has(ran.out, "Correctness was not checked.\nverdict: accepted (faster); 'apo show c1' has every round"))
      << ran.out;
}

TEST_F(Commands, WhatWasJudgedIsShownFoundReportedAuditedAndReplayed) {
  const Json document = only_document(compare(noisy("1", "100"), noisy("2", "94"),
                                              {"--metric", "json:t", "--correct", "true", "--runs", "2", "--json"}));
  EXPECT_EQ(document["id"], 1);
  EXPECT_EQ(document["judgement"]["verdict"], "accepted");
  EXPECT_EQ(document["correct"], "true");
  EXPECT_EQ(document["judgement"]["rule_version"], kRuleVersion);

  const Ran shown = place.apo({"show", "c1"});
  EXPECT_TRUE(has(shown.out, "Correctness was checked by 'true' alone.")) << shown.out << shown.err;
  EXPECT_TRUE(has(shown.out, "sentinel")) << shown.out;
  const Json full = only_document(place.apo({"show", "c1", "--json"}));
  const Json& last = full["rounds"].back();
  EXPECT_EQ(last["stage"], "confirm");
  EXPECT_EQ(last["runs"].size(), 4U);
  EXPECT_EQ(last["runs"][0]["side"], last["b_first"] == true ? "b" : "a");

  EXPECT_TRUE(has(place.apo({"query", "--commands", "verdict=accepted"}).out, "json:t"));
  const Ran sql =
      place.apo({"query", "--csv", "-q", "--sql", "SELECT verdict, speedup > 1.03 FROM command_comparisons"});
  EXPECT_EQ(sql.out, "verdict,speedup > 1.03\r\naccepted,1\r\n") << sql.err;
  const Ran report = place.apo({"report", "--commands", "--output", "-"});
  EXPECT_TRUE(has(report.out, "1 comparison of two commands")) << report.out << report.err;
  EXPECT_TRUE(has(report.out, "**accepted**") || has(report.out, "accepted (faster)")) << report.out;
  const Json audited = only_document(place.apo({"doctor", "--json"}));
  for (const Json& check : audited["checks"]) {
    EXPECT_FALSE(check["name"] == "journal" && check["state"] == "broken") << check;
  }

  const Json again = only_document(place.apo({"replay", "c1", "-q", "--json"}, 120));
  EXPECT_EQ(again["comparison"]["id"], 2);
  EXPECT_EQ(again["comparison"]["correct"], "true");
  EXPECT_EQ(again["original"]["judgement"]["verdict"], again["comparison"]["judgement"]["verdict"]);
}

TEST_F(Commands, TheSameCommandIsNotAccepted) {
  const Ran ran = compare(noisy("3", "100"), noisy("4", "100"));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_FALSE(has(ran.out, "accepted")) << ran.out;
}

TEST_F(Commands, SecondsIsTheWallTimeOfTheRun) {
  const Json document = only_document(compare("i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done", "true",
                                              {"--metric", "seconds", "--judge", "standard", "--json"}));
  EXPECT_EQ(document["judgement"]["verdict"], "accepted") << document;
  EXPECT_TRUE(has(document["judgement"]["sentence"], "faster")) << document;
}

TEST_F(Commands, AGoogleBenchmarkProgramIsJudgedByTheNumberThatItReports) {
  // The known difference is in what both are asked to do: one and thirty dependent steps an iteration.
  const std::string a =
      APO_BENCHMARK_PROGRAM " --benchmark_min_time=0.001 --benchmark_repetitions=5 --benchmark_filter=steps/30$";
  const std::string b = replaced(a, "steps/30$", "steps/1$");
  const Json document = only_document(compare(a, b, {"--metric", "gbench", "--judge", "standard", "--json"}));
  EXPECT_EQ(document["judgement"]["verdict"], "accepted") << document;
  EXPECT_GT(document["judgement"]["speedup"].get<double>(), 2);
  const std::string both = APO_BENCHMARK_PROGRAM " --benchmark_min_time=0.001";
  expect_mistake(compare(both, both, {"--metric", "gbench"}), "steps/1, steps/30");
}

TEST_F(Commands, TheGateEndsWithTheCodeThatCiReads) {
  const Ran worse =
      gate(noisy("5", "100"), noisy("6", "115"), {"--metric", "json:t", "--margin", "5%", "--junit", "gate.xml"});
  EXPECT_EQ(worse.exit_code, 3) << worse.out << worse.err;
  EXPECT_TRUE(has(worse.out, "worse by more than 5 %")) << worse.out;
  EXPECT_TRUE(has(read_file(place.path("gate.xml")), "<failure type=\"regressed\""));
  const Ran same = gate(noisy("7", "100"), noisy("8", "100"), {"--metric", "json:t", "--margin", "5%"});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  const Ran failed = gate("echo '{\"t\": 1}'", "exit 4");
  EXPECT_EQ(failed.exit_code, 3) << failed.out << failed.err;
  const Ran undecided =
      gate("echo '{\"t\": 1}'", "echo '{\"t\": 1}'", {"--metric", "json:t", "--judge", "standard", "--budget", "1ms"});
  EXPECT_EQ(undecided.exit_code, 2) << undecided.out << undecided.err;
  const Json document = only_document(gate(noisy("9", "100"), noisy("10", "100"), {"--metric", "json:t", "--json"}));
  EXPECT_EQ(document["commands"]["purpose"], "gate");
  EXPECT_EQ(document["variants"][0]["baseline_source"], nullptr);
  EXPECT_TRUE(has(place.apo({"show", "c1"}).out, "verdict: regressed")) << place.apo({"show", "c1"}).err;
}

TEST_F(Commands, OneClearErrorForEachMistake) {
  const std::string one = "echo '{\"t\": 1}'";
  expect_mistake(place.apo({"compare", "--command-a", one, "--metric", "json:t"}), "--command-b is missing");
  expect_mistake(place.apo({"compare", "--command-b", one}), "--command-a is missing");
  expect_mistake(place.apo({"compare", "--command-a", one, "--command-b", one}), "--metric is missing");
  expect_mistake(place.apo({"compare"}), "two variants, or two commands");
  expect_mistake(place.apo({"compare", "copy/simple"}), "two variants, or two commands");
  expect_mistake(place.apo({"compare", "copy/simple", "copy/memcpy", "--metric", "seconds"}), "--metric");
  expect_mistake(compare(one, one, {"--metric", "second"}), "did you mean 'seconds'");
  expect_mistake(compare(one, one, {"--metric", "seconds", "--workload", "n4k"}), "--workload");
  expect_mistake(compare(one, one, {"--metric", "seconds", "--higher-is-better"}), "less time is better");
  expect_mistake(compare(one, one, {"--metric", "seconds", "--timeout", "5"}), "is not a duration");
  expect_mistake(compare(one, one, {"--metric", "seconds", "--runs", "0"}), "--runs");
  expect_mistake(compare(one, one, {"--metric", "json:u"}), "nothing at '/u'");
  expect_mistake(compare("./no-such-program", one), "cannot be found");
  expect_mistake(gate(one, one, {"--metric", "seconds", "--baseline", "b.json"}), "--baseline");
  expect_mistake(place.apo({"show", "c9"}), "there is no");
}

TEST_F(Commands, NothingIsKeptWhereTheJournalIsNotWanted) {
  const Ran ran = compare("echo '{\"t\": 2}'", "exit 3", {"--metric", "json:t", "--no-journal"});
  EXPECT_EQ(ran.exit_code, 3) << "a failed B is a failed gate: " << ran.err;
  EXPECT_TRUE(has(ran.out, "verdict: reverted (gate_failed)\n")) << ran.out;
  EXPECT_FALSE(std::filesystem::exists(place.path(".apo/journal.db")));
}

TEST_F(Commands, CtrlCLeavesNoOrphan) {
  const std::string command = "sleep 100000 & echo $! > started; mv started child; wait";
  const std::filesystem::path child_file = place.path("child");
  const pid_t apo = fork();
  ASSERT_GE(apo, 0);
  if (apo == 0) {
    if (chdir(place.path("").c_str()) == 0) {
      execl(APO_PROGRAM, "apo", "compare", "--command-a", command.c_str(), "--command-b", "true", "--metric", "seconds",
            "--no-journal", nullptr);
    }
    _exit(127);
  }
  ASSERT_TRUE(testing::comes_about([&] { return std::filesystem::exists(child_file); }));
  const int child = std::stoi(read_file(child_file));
  EXPECT_EQ(kill(child, 0), 0);
  kill(apo, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(apo, &status, 0), apo);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_TRUE(testing::comes_about([&] { return !testing::is_running(child); }));
}

}  // namespace
}  // namespace apo
