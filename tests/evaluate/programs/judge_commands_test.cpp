// tests/evaluate/programs/judge_commands_test.cpp - real commands under both rules: gains, A/A runs, and every fault.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/round.h"
#include "harness/evaluate/programs/judge_programs.h"
#include "harness/evaluate/programs/suite.h"
#include "tests/text.h"

namespace apo {
namespace {

const TemporaryFolder& place() {
  static const TemporaryFolder folder("apo-commands-test");
  return folder;
}

// Prints a metric round `centre` with 1 % of noise from `seed` and the number of the run, whatever time it takes.
std::string noisy(const std::string& seed, double centre) {
  const std::string file = "count-" + seed;
  return "n=$(cat " + file + " 2>/dev/null || echo 0); echo $((n + 1)) > " + file + "; awk -v s=" + seed +
         " -v n=$n -v c=" + std::to_string(centre) +
         " 'BEGIN { srand(7919 * s + n); rand(); x = 0; for (i = 0; i < 12; ++i) x += rand();"
         " printf \"value %.9g\\n\", c * (1 + 0.01 * (x - 6)) }'";
}

ProgramComparison asked(const std::string& a, const std::string& b, const std::string& metric = "regex:value (.*)") {
  return {.a = a, .b = b, .folder = place().path(), .commands = {.metric = metric, .judge = "standard"}};
}

ProgramComparison judged(ProgramComparison comparison, std::uint64_t seed = 1) {
  SilentObserver observer;
  judge_programs(comparison, seed, nullptr, observer);
  return comparison;
}

std::string mistake(const ProgramComparison& comparison) {
  return error_of([&] { judged(comparison); });
}

int rounds_of(const ProgramComparison& comparison, RoundStage stage) {
  return static_cast<int>(std::count_if(comparison.rounds.begin(), comparison.rounds.end(),
                                        [&](const Round& round) { return round.stage == stage; }));
}

TEST(JudgeCommands, AKnownGainIsAcceptedAfterAConfirmationInFreshRuns) {
  const ProgramComparison result = judged(asked(noisy("1", 100), noisy("2", 95)));
  const Judgement& judgement = *result.judgement;
  EXPECT_EQ(judgement.verdict, Verdict::accepted) << judgement.sentence;
  EXPECT_NEAR(judgement.effect, std::log(100.0 / 95), 0.02);
  EXPECT_LT(judgement.lower, std::log(100.0 / 95));
  EXPECT_GT(judgement.upper, std::log(100.0 / 95));
  expect_contains(judgement.sentence, "better, 98 % interval");
  expect_contains(judgement.sentence, "fresh runs of each");
  EXPECT_GE(rounds_of(result, RoundStage::search), 14);
  EXPECT_GE(rounds_of(result, RoundStage::confirm), 14);
  EXPECT_EQ(judgement.processes, 2 * static_cast<int>(result.rounds.size()));
  EXPECT_NEAR(result.figures.at(0).value_a, 100, 2);
  EXPECT_NEAR(result.figures.at(0).value_b, 95, 2);
  EXPECT_EQ(difference_on_replay(result), "");
}

TEST(JudgeCommands, ALossIsARegressionAndAHigherMetricMayBeTheBetterOne) {
  EXPECT_EQ(judged(asked(noisy("3", 100), noisy("4", 106))).judgement->reason, Reason::regression);
  ProgramComparison throughput = asked(noisy("5", 100), noisy("6", 106));
  throughput.commands.higher_is_better = true;
  const ProgramComparison result = judged(throughput);
  EXPECT_EQ(result.judgement->verdict, Verdict::accepted) << result.judgement->sentence;
  EXPECT_GT(result.judgement->effect, 0);
}

TEST(JudgeCommands, TheSameCommandIsNeverAccepted) {
  for (const std::string seed : {"11", "12", "13"}) {
    const ProgramComparison result = judged(asked(noisy(seed, 100), noisy("1" + seed, 100)));
    EXPECT_NE(result.judgement->verdict, Verdict::accepted) << result.judgement->sentence;
  }
}

TEST(JudgeCommands, TheOrderOfEachRoundIsTheCoinOfItsSeed) {
  const ProgramComparison once = judged(asked("echo value 2", "echo value 1"), 7);
  const ProgramComparison again = judged(asked("echo value 2", "echo value 1"), 7);
  ASSERT_EQ(once.rounds.size(), again.rounds.size());
  bool any_first = false;
  bool any_second = false;
  for (std::size_t i = 0; i < once.rounds.size(); ++i) {
    EXPECT_EQ(once.rounds[i].seed, again.rounds[i].seed);
    EXPECT_EQ(once.rounds[i].commands, again.rounds[i].commands);
    EXPECT_EQ(once.rounds[i].commands->runs.front().candidate, once.rounds[i].candidate_in_slot0);
    EXPECT_NO_THROW(check_coin(once.rounds[i]));
    (once.rounds[i].candidate_in_slot0 ? any_first : any_second) = true;
  }
  EXPECT_TRUE(any_first && any_second);
  EXPECT_EQ(once.judgement->effect, again.judgement->effect);
  EXPECT_EQ(once.judgement->effect, std::log(2.0));
}

TEST(JudgeCommands, SeveralRunsARoundAlternateAndTheBestCounts) {
  ProgramComparison comparison = asked(noisy("21", 100), "echo value 90");
  comparison.commands.runs = 2;
  const ProgramComparison result = judged(comparison);
  for (const Round& round : result.rounds) {
    const auto& runs = round.commands->runs;
    ASSERT_EQ(runs.size(), 4U);
    EXPECT_EQ(runs[0].candidate, runs[3].candidate);
    EXPECT_EQ(runs[1].candidate, runs[2].candidate);
    EXPECT_NE(runs[0].candidate, runs[1].candidate);
    const CommandRun& one = runs[0].candidate ? runs[1] : runs[0];
    const CommandRun& other = runs[0].candidate ? runs[2] : runs[3];
    EXPECT_EQ(round.commands->best(false), std::min(one.value, other.value));
  }
  expect_contains(result.judgement->sentence, "rounds of 2 fresh runs of each");
}

TEST(JudgeCommands, AutoRunsAAgainstItselfFirstAndTakesAStrictPreset) {
  ProgramComparison comparison = asked(noisy("31", 100), noisy("32", 80));
  comparison.commands.judge = "auto";
  const ProgramComparison result = judged(comparison);
  EXPECT_EQ(rounds_of(result, RoundStage::sentinel), 14);
  EXPECT_TRUE(result.judgement->preset.starts_with("strict")) << result.judgement->preset;
  EXPECT_EQ(result.judgement->verdict, Verdict::accepted) << result.judgement->sentence;
}

TEST(JudgeCommands, WithRandomLayoutTheEnvironmentHasAnotherSizeInEachRun) {
  const std::string tell = "echo ${#APO_PADDING} >> ";
  ProgramComparison comparison = asked(tell + "sizes; echo value 2", tell + "sizes; echo value 1");
  judged(comparison);
  const std::string random = read_file(place().path() / "sizes");
  comparison = asked(tell + "fixed; echo value 2", tell + "fixed; echo value 1");
  comparison.commands.layout = Layout::fixed;
  judged(comparison);
  const std::string fixed = read_file(place().path() / "fixed");
  EXPECT_EQ(fixed.find_first_not_of("0\n"), std::string::npos) << fixed;
  EXPECT_NE(random.find_first_not_of("0\n"), std::string::npos) << random;
}

TEST(JudgeCommands, ASpentBudgetEndsWithoutAVerdict) {
  ProgramComparison comparison = asked("echo value 2", "echo value 1");
  comparison.commands.budget_s = 1e-9;
  const ProgramComparison result = judged(comparison);
  EXPECT_EQ(result.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(result.judgement->reason, Reason::unresolved);
  expect_contains(result.judgement->sentence, "budget");
  comparison.purpose = ComparisonPurpose::gate;
  comparison.margin = 0.02;
  EXPECT_EQ(judged(comparison).gate, GateVerdict::undecided);
}

// ---------------------------------------------------------------- the gate

ProgramComparison gated(const std::string& a, const std::string& b, double margin) {
  ProgramComparison comparison = asked(a, b);
  comparison.purpose = ComparisonPurpose::gate;
  comparison.margin = std::log1p(margin);
  return judged(comparison);
}

TEST(GateCommands, MoreThanTheMarginRegressesAndLessPasses) {
  const ProgramComparison worse = gated(noisy("41", 100), noisy("42", 115), 0.05);
  EXPECT_EQ(worse.gate, GateVerdict::regressed) << worse.judgement->sentence;
  expect_contains(worse.judgement->sentence, "worse by more than 5 %");
  EXPECT_EQ(difference_on_replay(worse), "");
  const ProgramComparison same = gated(noisy("43", 100), noisy("44", 100), 0.05);
  EXPECT_EQ(same.gate, GateVerdict::passed) << same.judgement->sentence;
  EXPECT_EQ(difference_on_replay(same), "");
}

// ---------------------------------------------------------------- suites

// Prints benchmarks b0, b1, ... round their centres as noisy(), in ns; only those that the filter wants.
std::string noisy_suite(const std::string& seed, const std::vector<double>& centres, double noise = 0.01) {
  std::string list;
  for (const double centre : centres) {
    list += " " + std::to_string(centre);
  }
  const std::string file = "count-" + seed;
  return "n=$(cat " + file + " 2>/dev/null || echo 0); echo $((n + 1)) > " + file + "; awk -v s=" + seed +
         " -v n=$n -v noise=" + std::to_string(noise) +
         " -v wanted={filter} 'BEGIN { srand(7919 * s + n); rand(); m = split(\"" + list +
         "\", c, \" \"); for (b = 1; b <= m; ++b) { x = 0; for (i = 0; i < 12; ++i) x += rand();"
         " name = \"b\" (b - 1); if (name ~ wanted) printf \"%s %.9g ns\\n\", name, c[b] * (1 + noise * (x - 6)) } }'";
}

ProgramComparison gated_suite(const std::string& a, const std::string& b, double margin = 0) {
  ProgramComparison comparison = asked(a, b, "lines");
  comparison.purpose = ComparisonPurpose::gate;
  comparison.margin = std::log1p(margin);
  return comparison;
}

std::string found(const ProgramComparison& comparison, QualityFinding finding) {
  std::string names;
  for (const Figure& figure : comparison.figures) {
    names += figure.finding == finding ? figure.metric + " " : "";
  }
  return names;
}

std::string left_out(const ProgramComparison& comparison) {
  std::string names;
  for (const Figure& figure : comparison.figures) {
    names += is_left_out(figure) ? figure.metric + ": " + figure.unit + "; " : "";
  }
  return names;
}

TEST(GateSuite, NamesWhatBecameSlowerAndFasterAndRunsTheRestAlone) {
  std::vector<double> centres(20, 100);
  const std::string before = noisy_suite("61", centres);
  centres[3] = 105;
  centres[7] = 94;
  const ProgramComparison result = judged(gated_suite(before, noisy_suite("62", centres)));
  EXPECT_EQ(result.gate, GateVerdict::regressed) << result.judgement->sentence;
  EXPECT_EQ(found(result, QualityFinding::worse), "b3 ");
  EXPECT_EQ(found(result, QualityFinding::better), "b7 ");
  EXPECT_EQ(found(result, QualityFinding::inconclusive), "");
  expect_contains(result.judgement->sentence, "1 slower (b3 -");
  expect_contains(result.judgement->sentence, "18 not slower; geometric mean ");
  EXPECT_EQ(result.figures.front().metric, "geometric mean of 20 benchmarks");
  EXPECT_NEAR(result.figures.at(4).value_a, 100e-9, 2e-9);
  EXPECT_EQ(result.rounds.front().commands->runs.front().values.size(), 20U);
  EXPECT_EQ(result.rounds.back().commands->runs.front().values.size(), 18U);
  EXPECT_EQ(difference_on_replay(result), "");
  ProgramComparison altered = result;
  altered.gate = GateVerdict::passed;
  EXPECT_NE(difference_on_replay(altered), "");
}

TEST(GateSuite, AMarginToleratesAndWhatCannotBeResolvedIsNeitherGreenNorRed) {
  const ProgramComparison tolerated =
      judged(gated_suite(noisy_suite("63", {100, 100}), noisy_suite("64", {100, 103}), 0.1));
  EXPECT_EQ(tolerated.gate, GateVerdict::passed) << tolerated.judgement->sentence;
  const ProgramComparison noisy =
      judged(gated_suite(noisy_suite("65", {100, 100}, 0.1), noisy_suite("66", {100, 100}, 0.1), 0.02));
  EXPECT_EQ(noisy.gate, GateVerdict::undecided) << noisy.judgement->sentence;
  expect_contains(noisy.judgement->sentence, "2 cannot be resolved (b0, b1)");
}

TEST(GateSuite, ACommandAgainstItselfGivesTheNoiseByWhichLaterGatesArePlanned) {
  const std::string command = noisy_suite("67", {100, 100, 100, 5}, 0.003);
  ProgramComparison comparison = gated_suite(command, command);
  comparison.commands.judge = "auto";
  const ProgramComparison same = judged(comparison);
  EXPECT_EQ(same.gate, GateVerdict::passed) << same.judgement->sentence;
  EXPECT_EQ(same.judgement->preset, "extended");
  const std::map<std::string, double> noise = noise_of(same);
  ASSERT_EQ(noise.size(), 4U);
  EXPECT_NEAR(noise.at("b0"), std::sqrt(2) * 0.003, 0.003);
  expect_contains(noise_text(same), "none is restless");
  SilentObserver observer;
  judge_programs(comparison, 1, nullptr, observer, {.noise = noise});
  EXPECT_EQ(comparison.judgement->preset, "standard");
}

TEST(GateSuite, RestlessBenchmarksAreNamedWithWhatTheyShare) {
  const std::string restless =
      "; awk -v n=$n 'BEGIN { srand(n); rand(); printf \"tiny/1 %.9g ns\\ntiny/2 %.9g ns\\n\", 3 + rand(), 3 + rand() "
      "}'";
  const std::string command = noisy_suite("68", {100, 100, 100, 100, 100, 100}) + restless;
  const std::string text = noise_text(judged(gated_suite(command, command)));
  expect_contains(text, "2 restless: tiny/1 (");
  expect_contains(text, "2 of them are in the shortest quarter; all are of tiny");
}

TEST(GateSuite, BenchmarksThatCannotBeComparedAreLeftOutByName) {
  const ProgramComparison result = judged(
      gated_suite("echo one 1 s; echo gone 1 s; echo rate 3 GB/s; echo size 3 KB; echo zero 0 s; echo steady 2 ms",
                  "echo new 1 s; echo one 1 s; echo rate 3 GB/s; echo size 3 MB; echo zero 0 s; echo steady 3000 us"));
  EXPECT_EQ(
      left_out(result),
      "gone: only A has it; rate: more of it is better, which is not so of the others; size: A gives KB and B MB; "
      "zero: its value is 0; new: only B has it; ");
  EXPECT_EQ(found(result, QualityFinding::worse), "steady ");
  EXPECT_EQ(found(result, QualityFinding::equivalent), "one ");  // no variance at all
  expect_contains(result.judgement->sentence, "5 left out: gone (only A has it)");
  expect_contains(mistake(gated_suite("echo a 1 s", "echo b 1 s")), "no benchmark that can be compared");
  expect_contains(mistake(gated_suite("true", "echo b 1 s")), "no line of stdout is NAME VALUE UNIT");
}

TEST(GateSuite, ABenchmarkThatOnlyBCannotRunFailsTheGate) {
  const auto google = [](const std::string& more) {
    return R"(: ; echo '{"benchmarks": [{"name": "a", "real_time": 2, "time_unit": "ms"})" + more + "]}' #";
  };
  const std::string fine = R"(, {"name": "b", "real_time": 2, "time_unit": "ms"})";
  const std::string error = R"(, {"name": "b", "error_occurred": true, "error_message": "no file"})";
  ProgramComparison comparison = gated_suite(google(fine), google(error));
  comparison.commands.metric = "gbench";
  const ProgramComparison result = judged(comparison);
  EXPECT_EQ(result.gate, GateVerdict::failed);
  expect_contains(result.judgement->sentence, "benchmark 'b' reports an error: no file");
  std::swap(comparison.a, comparison.b);
  EXPECT_EQ(left_out(judged(comparison)), "b: benchmark 'b' reports an error: no file; ");
}

TEST(GateSuite, ABThatCrashesOrLosesABenchmarkLaterFails) {
  const auto later = [](const std::string& file, const std::string& then) {
    return "n=$(cat " + file + " 2>/dev/null || echo 0); echo $((n + 1)) > " + file +
           "; echo a 1 s; test $n -lt 3 && echo b 1 s || " + then;
  };
  const ProgramComparison crashed = judged(gated_suite("echo a 1 s; echo b 1 s", later("crash", "kill -SEGV $$")));
  EXPECT_EQ(crashed.gate, GateVerdict::failed);
  expect_contains(crashed.judgement->sentence, "SIGSEGV");
  const ProgramComparison lost = judged(gated_suite("echo a 1 s; echo b 1 s", later("lose", "true")));
  EXPECT_EQ(lost.gate, GateVerdict::failed);
  expect_contains(lost.judgement->sentence, "benchmark 'b' was not run any more");
}

TEST(GateSuite, ASpentBudgetKeepsWhatWasFound) {
  ProgramComparison comparison = gated_suite("echo a 1 s", "echo a 2 s");
  comparison.commands.budget_s = 1e-9;
  const ProgramComparison result = judged(comparison);
  EXPECT_EQ(result.gate, GateVerdict::undecided);
  expect_contains(result.judgement->sentence, "1 cannot be resolved (a); the budget of");
}

// ---------------------------------------------------------------- correctness

TEST(CommandCorrectness, ACheckReadsWhatARunPrintedAndItsFilesAndMayKnowTheSideAndTheCommand) {
  const std::string writes = R"(; echo 7 > "$APO_OUTPUT/y")";
  ProgramComparison comparison = asked("echo value 2" + writes, "echo value 1" + writes);
  comparison.commands.correct = R"(read value; y=$(cat "$APO_OUTPUT/y"); echo "$1 $value $y $2" >> checked)";
  EXPECT_EQ(judged(comparison).judgement->verdict, Verdict::accepted);
  std::map<std::string, int> checked;
  for (const std::string& line : split(trim(read_file(place().path() / "checked")), '\n')) {
    ++checked[line];
  }
  const std::string a = "a value 2 7 " + comparison.a;
  const std::string b = "b value 1 7 " + comparison.b;
  EXPECT_EQ(checked.size(), 2U);
  EXPECT_GT(checked[a], 1);  // 1 of its trial, and about half of 28 timed ones
  EXPECT_GT(checked[b], 1);
  EXPECT_LT(checked[a] + checked[b], 58);
}

TEST(CommandCorrectness, AWrongBIsRevertedAndAWrongAIsAMistake) {
  ProgramComparison comparison = asked("echo value 2", "echo value 1");
  comparison.commands.correct = "test $1 = a";
  const ProgramComparison wrong = judged(comparison);
  EXPECT_EQ(wrong.outcome, Outcome::incorrect);
  EXPECT_EQ(wrong.judgement->verdict, Verdict::reverted);
  EXPECT_EQ(wrong.judgement->reason, Reason::gate_failed);
  EXPECT_TRUE(wrong.rounds.empty());
  comparison.purpose = ComparisonPurpose::gate;
  EXPECT_EQ(judged(comparison).gate, GateVerdict::failed);
  comparison.commands.correct = "test $1 = b";
  expect_contains(mistake(comparison), "command A is wrong: incorrect, it fails the check 'test $1 = b'");
}

// ---------------------------------------------------------------- faults

TEST(CommandFaults, ACommandThatIsMissingIsAMistakeOnEitherSide) {
  expect_contains(mistake(asked("./no-such-program", "true")), "command A, './no-such-program', cannot be found");
  expect_contains(mistake(asked("echo value 1", "./no-such-program")),
                  "command B, './no-such-program', cannot be found");
  write_file_atomically(place().path() / "data", "no program");
  expect_contains(mistake(asked("echo value 1", "./data")), "cannot be executed");
}

TEST(CommandFaults, AnAThatFailsIsAMistakeWithWhatItPrinted) {
  expect_contains(mistake(asked("echo no input file >&2; exit 3", "true")),
                  "command A gave no result: faulted, it exited with 3; it printed: no input file");
  expect_contains(mistake(asked("kill -SEGV $$", "true")), "SIGSEGV");
  expect_contains(mistake(asked("echo hello", "true")), "no_metric, no line of stdout matches");
}

TEST(CommandFaults, ABThatFailsIsReverted) {
  const ProgramComparison exited = judged(asked("echo value 1", "echo broken >&2; exit 3"));
  EXPECT_EQ(exited.outcome, Outcome::faulted);
  EXPECT_EQ(exited.judgement->reason, Reason::gate_failed);
  expect_contains(exited.judgement->sentence, "it exited with 3; it printed: broken");
  for (const std::string bad : {"hello", "value 1; echo value 2", "value nan", "value 0", "value -1"}) {
    const ProgramComparison result = judged(asked("echo value 1", "echo " + bad));
    EXPECT_EQ(result.outcome, Outcome::no_metric) << bad;
    EXPECT_EQ(result.judgement->verdict, Verdict::reverted) << bad;
  }
}

TEST(CommandFaults, ABThatFailsLaterIsRevertedAndKeepsItsRounds) {
  const std::string third =
      "n=$(cat later 2>/dev/null || echo 0); echo $((n + 1)) > later; test $n -lt 3 && echo value 1";
  const ProgramComparison result = judged(asked("echo value 2", third));
  EXPECT_EQ(result.outcome, Outcome::faulted);
  EXPECT_EQ(result.judgement->reason, Reason::gate_failed);
  EXPECT_EQ(result.rounds.size(), 2U);  // its first run was the trial
  expect_contains(result.judgement->sentence, "Command B failed while it was timed");
}

TEST(CommandFaults, ABThatFailsOnceIsNotBlamed) {
  const std::string fourth =
      "n=$(cat once 2>/dev/null || echo 0); echo $((n + 1)) > once; test $n -ne 3 && echo value 1";
  const ProgramComparison result = judged(asked("echo value 2", fourth));
  EXPECT_EQ(result.judgement->verdict, Verdict::inconclusive);
  EXPECT_EQ(result.judgement->reason, Reason::interrupted);
  expect_contains(result.judgement->sentence, "A round failed while both were timed: faulted");
}

TEST(CommandFaults, ACommandThatPrintsWithoutEndTakesNoMemory) {
  ProgramComparison comparison = asked("yes", "true", "regex:value (.*)");
  comparison.commands.timeout_s = 1;
  expect_contains(mistake(comparison), "timed_out, it had not ended after");
  comparison.a = "yes | head -c 100000000";
  comparison.commands.timeout_s = 0;
  expect_contains(mistake(comparison), "printed too much");
}

TEST(CommandReplay, AnAlteredRoundIsNoticed) {
  ProgramComparison result = judged(asked(noisy("51", 100), noisy("52", 90)));
  ASSERT_EQ(difference_on_replay(result), "");
  result.rounds.back().commands->runs.front().value *= 3;
  EXPECT_NE(difference_on_replay(result), "");
}

}  // namespace
}  // namespace apo
