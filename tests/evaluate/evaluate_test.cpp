// tests/evaluate/evaluate_test.cpp - whole experiments with real builds and processes: what each gate stops.
#include "harness/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "harness/core/error.h"
#include "harness/core/system/files.h"
#include "harness/core/system/process.h"
#include "harness/evaluate/correctness/correctness.h"
#include "harness/evaluate/correctness/large_case.h"
#include "harness/evaluate/correctness/sanitizer_gate.h"
#include "harness/evaluate/counted_rounds.h"
#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/rounds/round_source.h"
#include "harness/evaluate/rounds/solo_runs.h"
#include "harness/families/known_families.h"
#include "tests/evaluate/judge/rounds.h"
#include "tests/evaluate/runtime_fixture.h"
#include "tests/processes.h"
#include "tests/shipped_families.h"
#include "tests/text.h"

namespace apo {
namespace {

struct EvaluateTest : ::testing::Test {
  testing::CopyRuntime copy;
  SilentObserver silent;
  EvaluatePlan plan = copy.plan();
  Runtime runtime_under_test = copy.runtime();
  std::vector<std::string> gates_seen;
  int rounds_seen = 0;

  Experiment evaluate_candidate(const std::string& candidate, const std::string& incumbent = "copy/once") {
    Experiment experiment = copy.experiment(candidate, incumbent);
    EvaluateHooks hooks;
    hooks.on_gate = [&](const GateResult& gate) { gates_seen.push_back(gate.gate); };
    hooks.on_round = [&](const Round&) { ++rounds_seen; };
    evaluate(runtime_under_test, experiment, plan, silent, hooks);
    return experiment;
  }

  void expect_stopped(const Experiment& experiment, const std::string& gate, Outcome outcome) {
    EXPECT_EQ(experiment.judgement->verdict, Verdict::reverted);
    EXPECT_EQ(experiment.judgement->reason, Reason::gate_failed);
    EXPECT_EQ(experiment.outcome, outcome) << to_string(experiment.outcome);
    EXPECT_EQ(experiment.gates.back().gate, gate);
    EXPECT_FALSE(experiment.gates.back().evidence.empty());
  }
};

// Whether it was accepted for sixteen times less work. On a busy machine what a call waits for its CPU hides that.
bool shows(const Experiment& experiment) {
  EXPECT_EQ(experiment.outcome, Outcome::valid);
  return experiment.judgement->reason == Reason::faster;
}

double seconds_of(const std::vector<Round>& rounds) {
  return std::accumulate(rounds.begin(), rounds.end(), 0.0,
                         [](double sum, const Round& round) { return sum + round.seconds; });
}

TEST_F(EvaluateTest, AMuchFasterCandidateIsAcceptedAfterConfirmation) {
  const Experiment experiment = evaluate_candidate("copy/once", "copy/sixteen_times");
  if (!shows(experiment)) {
    GTEST_SKIP() << experiment.judgement->sentence;
  }
  EXPECT_EQ(experiment.judgement->verdict, Verdict::accepted);
  EXPECT_EQ(gates_seen, (std::vector<std::string>{"metadata", "build", "resources", "correctness", "timing",
                                                  "confirmation", "regimes"}));
  EXPECT_EQ(rounds_seen, static_cast<int>(experiment.rounds.size()));
  const auto in_slot0 = std::ranges::count(experiment.rounds, true, &Round::candidate_in_slot0);
  EXPECT_TRUE(in_slot0 > 0 && in_slot0 < std::ssize(experiment.rounds)) << in_slot0;
  double timing = 0;
  for (const GateResult& gate : experiment.gates) {
    EXPECT_TRUE(gate.seconds > 0 || gate.gate == "build") << gate.gate << " takes no time from the cache alone";
    timing += gate.gate == "timing" || gate.gate == "confirmation" ? gate.seconds : 0;
  }
  EXPECT_GE(timing, seconds_of(experiment.rounds)) << "rounds are most of it";
  EXPECT_LE(timing, experiment.judgement->seconds);
}

TEST_F(EvaluateTest, WhatIsAcceptedIsAlsoHeldAgainstTheBaseline) {
  plan.baseline = Configuration{"copy/memcpy", {}};
  const Experiment experiment = evaluate_candidate("copy/once", "copy/sixteen_times");
  if (!shows(experiment)) {
    GTEST_SKIP() << experiment.judgement->sentence;
  }
  EXPECT_EQ(gates_seen.back(), "baseline");
  expect_contains(experiment.judgement->sentence, "Against the family's baseline copy/memcpy it is ");
}

TEST_F(EvaluateTest, AGainOverWhatIsOnlySlowAsTheIncumbentIsReverted) {
  plan.baseline = Configuration{"copy/memcpy", {}};
  runtime_under_test.build = [&](const Configuration& configuration, const Axes& axes, bool sanitize) {
    const bool is_incumbent =
        configuration.variant == "copy/simple" && gates_seen == std::vector<std::string>{"metadata"};
    return copy.runtime().build(is_incumbent ? Configuration{"copy/sixteen_times", {}} : configuration, axes, sanitize);
  };
  const Experiment experiment = evaluate_candidate("copy/once", "copy/simple");
  if (gates_seen.back() != "baseline" || experiment.judgement->verdict == Verdict::accepted) {
    GTEST_SKIP() << experiment.judgement->sentence;  // no gain showed, or none of the two by the baseline
  }
  EXPECT_EQ(experiment.judgement->reason, Reason::confirm_failed);
  expect_contains(experiment.judgement->sentence,
                  "The gain did not come back against the family's baseline copy/memcpy");
}

TEST_F(EvaluateTest, ABaselineThatDoesNotRunIsSaidAndChangesNoVerdict) {
  plan.baseline = Configuration{"copy/large_only", {}};
  const Experiment experiment = evaluate_candidate("copy/once", "copy/sixteen_times");
  if (!shows(experiment)) {
    GTEST_SKIP() << experiment.judgement->sentence;
  }
  expect_contains(experiment.gates.back().evidence, "not held against the family's baseline: copy/large_only does not");
}

TEST_F(EvaluateTest, TheVerdictOnAMuchSlowerCandidateFollowsFromItsStoredRoundsAlone) {
  const Experiment experiment = evaluate_candidate("copy/sixteen_times");
  EXPECT_NE(experiment.judgement->verdict, Verdict::accepted) << experiment.judgement->sentence;
  const Judgement again = replay({.preset = plan.preset, .cache_policy = CachePolicy::warm}, experiment.rounds);
  EXPECT_EQ(again.verdict, experiment.judgement->verdict);
  EXPECT_EQ(again.effect, experiment.judgement->effect);
  EXPECT_EQ(again.lower, experiment.judgement->lower);
}

TEST_F(EvaluateTest, IdenticalMachineCodeIsNoChangeAndIsNotTimed) {
  expect_stopped(evaluate_candidate("copy/once"), "resources", Outcome::no_change);
  EXPECT_EQ(rounds_seen, 0);
}

TEST_F(EvaluateTest, KernelsThatBothArmsShareAreNamed) {
  const TemporaryFolder folder;
  runtime_under_test.code_of = [](std::string_view cubin) { return std::string(cubin); };
  runtime_under_test.build = [&](const Configuration& configuration, const Axes& axes, bool sanitize) {
    Build build = copy.runtime().build(configuration, axes, sanitize);
    const std::filesystem::path own = folder.path() / build.key;
    std::filesystem::create_directory(own);
    std::filesystem::copy_file(build.object_path, own / "object.so", std::filesystem::copy_options::skip_existing);
    write_file_atomically(own / kCubin, "a kernel");
    build.object_path = (own / "object.so").string();
    return build;
  };
  plan.check_on_cpu = [](const std::stop_token&) {
    return std::vector<GateResult>{{.gate = "executor", .outcome = Outcome::incorrect, .evidence = "enough"}};
  };
  expect_contains(evaluate_candidate("copy/sixteen_times").gates.at(2).evidence,
                  "the machine code of its kernels is the incumbent's: what differs is how they are launched");
}

TEST_F(EvaluateTest, CodeThatWasWrongBeforeIsNotTimed) {
  plan.known_mistakes = [](const Experiment& candidate) {
    return KnownMistakes{.proof = "it was wrong in " + candidate.workloads.front(), .cases = {}};
  };
  expect_stopped(evaluate_candidate("copy/sixteen_times"), "history", Outcome::incorrect);
  EXPECT_EQ(rounds_seen, 0);
}

TEST_F(EvaluateTest, WhereCodeWasWrongBeforeIsCheckedFirstOnTheSameInputs) {
  const Axes axes = find_workload(copy.family(), "n1001")->axes;
  plan.known_mistakes = [&](const Experiment&) {
    const CheckCase known = {
        .workload = "n1001", .axes = axes, .regimes = {"typical"}, .known_from = "experiment 7", .known_seed = 5};
    return KnownMistakes{.proof = "", .cases = {known}};
  };
  const Experiment experiment = evaluate_candidate("copy/wrong_when_ragged");
  expect_stopped(experiment, "correctness", Outcome::incorrect);
  expect_contains(experiment.gates.back().evidence, "; checked first, as experiment 7 was wrong there");
  EXPECT_EQ(experiment.gates.back().wrong_case,
            (WrongCase{.workload = "n1001", .axes = axes, .regime = "typical", .seed = 5}));
}

TEST_F(EvaluateTest, OtherMachineCodeOnOneWorkloadIsAChange) {
  plan.workloads.push_back(find_workload(copy.family(), "n1001"));
  plan.check_on_cpu = [](const std::stop_token&) {
    return std::vector<GateResult>{{.gate = "executor", .outcome = Outcome::incorrect, .evidence = "far enough"}};
  };
  Runtime runtime = copy.runtime();
  runtime.build = [&, builds = 0](const Configuration& configuration, const Axes& axes, bool sanitize) mutable {
    Build build = copy.runtime().build(configuration, axes, sanitize);
    build.code_hash += ++builds == 4 ? "another" : "";  // both arms on one workload, then both on the other
    return build;
  };
  Experiment experiment = copy.experiment("copy/once");
  experiment.workloads = {"n4k", "n1001"};
  evaluate(runtime, experiment, plan, silent);
  expect_stopped(experiment, "executor", Outcome::incorrect);
}

TEST_F(EvaluateTest, EachUntimedGateStopsWhatItIsFor) {
  plan.sanitize = true;
  const struct {
    const char* candidate;
    const char* gate;
    Outcome outcome;
    const char* evidence;
  } cases[] = {
      {"large_only", "metadata", Outcome::refused, "n4k"},
      {"does_not_compile", "build", Outcome::build_failed, "error"},
      {"wrong_when_ragged", "correctness", Outcome::incorrect, "n1001"},
      // A result that is kept for an address is wrong once other inputs stand there.
      {"caches_by_pointer", "correctness", Outcome::incorrect, "where typical stood"},
      // A repeated call has to write its output again.
      {"stale_output", "correctness", Outcome::incorrect, "(typical): the same call again gave other bits"},
      // One process calls it with several sizes.
      {"keeps_first_size", "correctness", Outcome::incorrect, "in a process of its own it is right"},
      {"reads_past_the_end", "sanitizers", Outcome::faulted, "n1001"},
      {"threads_share_a_count", "sanitizers", Outcome::incorrect, "ThreadSanitizer: n1001 (typical): data race"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.candidate);
    const Experiment experiment = evaluate_candidate(std::string("copy/") + one.candidate);
    expect_stopped(experiment, one.gate, one.outcome);
    expect_contains(experiment.gates.back().evidence + experiment.candidate_build.log, one.evidence);
    EXPECT_EQ(rounds_seen, 0);
  }
}

TEST_F(EvaluateTest, ACandidateThatIsWrongOnSomeSizesIsToldTheLineThatItLacks) {
  const Experiment experiment = evaluate_candidate("copy/wrong_when_ragged");
  expect_stopped(experiment, "correctness", Outcome::incorrect);
  expect_contains(experiment.gates.back().evidence, "write the line 'apo:requires n % 64 == 0'");
}

TEST_F(EvaluateTest, ThreadsThatWaitForEachOtherPassThreadSanitizer) {
  const GateResult gate = sanitizer_gate(copy.runtime(), {.variant = "copy/honest_threads", .settings = {}},
                                         correctness_plan(copy.family(), {"n4k"}, 1), 1);
  EXPECT_EQ(gate.outcome, Outcome::valid) << gate.evidence;
  expect_contains(gate.evidence, "ThreadSanitizer silent on n1001");
}

TEST_F(EvaluateTest, WhatTheCpuFoundStopsACandidateBeforeItIsTimedAndStandsBeforeItsOutputs) {
  plan.check_on_cpu = [](const std::stop_token&) {
    return std::vector<GateResult>{{.gate = "executor", .outcome = Outcome::incorrect, .evidence = "a race"}};
  };
  expect_stopped(evaluate_candidate("copy/sixteen_times"), "executor", Outcome::incorrect);
  EXPECT_EQ(gates_seen, (std::vector<std::string>{"metadata", "build", "resources", "executor"}));
  EXPECT_EQ(rounds_seen, 0);
}

TEST_F(EvaluateTest, ACandidateThatFailsToBuildIsAnsweredWhileTheCpuWouldStillCheckIt) {
  const auto checks = [] { return testing::has_child_with("sleep 100000"); };
  plan.check_on_cpu = [](const std::stop_token& stop) -> std::vector<GateResult> {
    run_process({"sleep", "100000"}, {.timeout_s = 100000, .stop = stop});
    return {};
  };
  Runtime runtime = copy.runtime();
  runtime.build = [&](const Configuration& configuration, const Axes& axes, bool sanitize) {
    EXPECT_TRUE(testing::comes_about(checks));
    return copy.runtime().build(configuration, axes, sanitize);
  };
  Experiment experiment = copy.experiment("copy/does_not_compile");
  evaluate(runtime, experiment, plan, silent);
  expect_stopped(experiment, "build", Outcome::build_failed);
  EXPECT_FALSE(checks()) << "a process stays behind";
}

TEST_F(EvaluateTest, ACheckThatIsCancelledLeavesNoWorker) {
  Runtime runtime = copy.runtime();
  runtime.worker.deadline = std::chrono::minutes(10);
  std::stop_source stop;
  runtime.worker.stop = stop.get_token();
  const Configuration candidate = copy.experiment("copy/infinite_loop").candidate;
  const auto calls = [] { return testing::has_child_with(" worker"); };
  const std::jthread stopping([&] {
    testing::comes_about(calls);
    stop.request_stop();
  });
  EXPECT_THROW(correctness_gate(runtime, candidate, correctness_plan(runtime, candidate, {}, 1), 1), Cancelled);
  EXPECT_FALSE(calls());
}

TEST_F(EvaluateTest, ACandidateThatStopsWorkingWhenItIsTimedIsCaught) {
  const Experiment experiment = evaluate_candidate("copy/cheats_when_timed");
  expect_stopped(experiment, "timing", Outcome::incorrect);
  expect_contains(experiment.judgement->sentence, "The candidate failed while it was timed");
}

TEST_F(EvaluateTest, ACandidateThatCrashesWhenItIsTimedIsBlamedAndNotTheIncumbent) {
  const Experiment experiment = evaluate_candidate("copy/crashes_when_timed");
  expect_stopped(experiment, "timing", Outcome::faulted);
  expect_contains(experiment.judgement->sentence, "SIGABRT");
}

TEST_F(EvaluateTest, ACandidateThatNeverReturnsIsRevertedAtItsDeadline) {
  Runtime runtime = copy.runtime();
  runtime.worker.deadline = std::chrono::milliseconds(500);
  Experiment experiment = copy.experiment("copy/infinite_loop");
  evaluate(runtime, experiment, plan, silent);
  expect_stopped(experiment, "correctness", Outcome::timed_out);
  expect_contains(experiment.judgement->sentence, "no answer in 500 ms");
}

TEST_F(EvaluateTest, ATimeBelowThePhysicalFloorIsNotBelieved) {
  plan.floor_ns["n4k"] = 1e9;
  const Experiment experiment = evaluate_candidate("copy/sixteen_times");
  EXPECT_EQ(experiment.outcome, Outcome::unstable_clock);
  EXPECT_EQ(experiment.judgement->verdict, Verdict::inconclusive) << "nobody's failure";
  EXPECT_EQ(experiment.judgement->reason, Reason::interrupted);
}

TEST_F(EvaluateTest, AnIncumbentThatDoesNotBuildIsTheEnvironmentsError) {
  EXPECT_THROW(evaluate_candidate("copy/once", "copy/does_not_compile"), EnvironmentError);
}

// A first build takes tens of seconds: nobody should look at a silent terminal meanwhile.
TEST_F(EvaluateTest, ASentinelTakesFourteenRoundsOfIdenticalCodeAndShowsEachBuildBeforeItBegins) {
  std::vector<std::string> seen;
  testing::ProgressObserver observer([&](const Progress& progress) { seen.push_back(progress.what); });
  Runtime runtime = copy.runtime();
  runtime.build = [&](const Configuration& configuration, const Axes& axes, bool sanitize) {
    EXPECT_FALSE(seen.empty() || seen.back() != "build copy/once");
    return copy.runtime().build(configuration, axes, sanitize);
  };
  const SentinelResult sentinel = run_sentinel(runtime, {"copy/once", {}}, plan, 0, {}, observer);
  EXPECT_NE(std::ranges::find(seen, "inputs of n4k"), seen.end());
  EXPECT_GE(sentinel.rounds.size(), 14U);
  EXPECT_LE(sentinel.lower, sentinel.check.effect);
  EXPECT_GE(sentinel.upper, sentinel.check.effect);
  EXPECT_GT(sentinel.check.sd, 0);
}

TEST_F(EvaluateTest, ASentinelOfLongCallsIsOfASmallWorkload) {
  plan.preset.long_round_s = 1e-9;
  const Workload* const n4k = find_workload(copy.family(), "n4k");
  const Workload* const n1m = find_workload(copy.family(), "n1m");
  for (const std::vector<const Workload*>& workloads : {std::vector{n1m}, {n4k, n1m}}) {
    plan.workloads = workloads;
    const SentinelResult sentinel = run_sentinel(copy.runtime(), {"copy/sixteen_times", {}}, plan, 0, {}, silent);
    EXPECT_EQ(sentinel.smaller_workload, "n4k");
    ASSERT_EQ(sentinel.rounds.front().workloads.size(), 1U);
    EXPECT_EQ(sentinel.rounds.front().workloads.front().workload, "n4k");
    EXPECT_TRUE(preset_after(sentinel, LayoutControl::redrawn).claims_by_rounds);
  }
}

TEST_F(EvaluateTest, EvidenceOfAWrongRecordingNamesTheBytesThatWereInverted) {
  Runtime runtime = copy.runtime();
  runtime.build = [&](const Configuration& configuration, const Axes& axes, bool sanitize) {
    Build build = copy.runtime().build(configuration, axes, sanitize);
    build.resources[kInvertedBytes] = 9;
    return build;
  };
  const CheckCase one{.workload = "n4k", .axes = find_workload(copy.family(), "n4k")->axes, .regimes = {"typical"}};
  expect_contains(
      check_case(runtime, {"copy/zeros", {}}, one, 5).evidence,
      "; 9 bytes of its kernels' parameters or memory were taken for stale and are inverted in its recording");
  EXPECT_EQ(check_case(runtime, {"copy/once", {}}, one, 5).outcome, Outcome::valid);
}

// Of two workloads, the larger one with a reference that is slow.
struct RegimesOfASlowReference : EvaluateTest {
  RegimesOfASlowReference() {
    slow.work = [](const Axes& axes) { return Work{.flops = axes.at("n") < 1'000'000 ? 1 : 1e15}; };
    slow.expected = [this](const Axes& axes, const StoredTensors& inputs, const Asked& asked) {
      if (axes.at("n") >= 1'000'000) {
        const std::lock_guard lock(mutex);
        fewest_units.push_back(asked.patience.fewest_units);
      }
      return copy.family().expected(axes, inputs, asked);
    };
    runtime_under_test.family = &slow;
    runtime_under_test.inputs = std::make_shared<InputStore>();
  }
  GateResult gate(const std::string& candidate, const std::string& incumbent, std::vector<CheckCase> cases) {
    Experiment experiment = copy.experiment(candidate, incumbent);
    return regimes_gate({runtime_under_test, experiment, plan, silent}, std::move(cases), 5);
  }
  CheckCase one(const std::string& workload, const std::string& regime) const {
    return {.workload = workload,
            .axes = find_workload(slow, workload)->axes,
            .regimes = {regime},
            .purpose = Purpose::look};
  }
  Family slow = copy.family();
  std::mutex mutex;
  std::vector<std::int64_t> fewest_units;  // that a gate asked of the slow reference
};

TEST_F(RegimesOfASlowReference, AreHeldAgainstTheIncumbentBehindCheapOnesToo) {
  const std::vector<CheckCase> cases = {one("n4k", "typical"), one("n1m", "wide")};
  EXPECT_EQ(gate("copy/one_wrong_of_a_million", "copy/once", cases).outcome, Outcome::incorrect);
  EXPECT_EQ(correctness_gate(runtime_under_test, {"copy/one_wrong_of_a_million", {}}, {cases.back()}, 6).outcome,
            Outcome::valid)
      << "no drawn unit has the element";
  EXPECT_EQ(gate("copy/once", "copy/once", cases).evidence, "right in all of 2 cases");
}

TEST_F(RegimesOfASlowReference, AloneAreLeftOutWhenItHasTakenLongAndAreNamed) {
  plan.regimes_s = 0;
  runtime_under_test.threads = 1;
  const GateResult found = gate("copy/once", "copy/sixteen_times",
                                {one("n1m", "wide"), one("n4k", "wide"), one("n1m", "typical"), one("n4k", "typical")});
  EXPECT_EQ(found.outcome, Outcome::valid);
  expect_contains(found.evidence, "right in 3 of 4 cases, drawn by lot where the reference is slow: it took ");
  expect_contains(found.evidence, "; left out: typical of n1m");
}

TEST_F(RegimesOfASlowReference, AreLeftOutBesideAnIncumbentThatFailsEverywhere) {
  plan.regimes_s = 1e-9;
  runtime_under_test.threads = 1;
  const GateResult found = gate("copy/once", "copy/abort", {one("n1m", "wide"), one("n1m", "typical")});
  EXPECT_EQ(found.outcome, Outcome::valid);
  expect_contains(found.evidence, "right in 1 of 2 cases");
}

TEST_F(RegimesOfASlowReference, SayWhatTheIncumbentDoesWrong) {
  const GateResult found = gate("copy/once", "copy/zeros", {one("n1m", "wide")});
  EXPECT_EQ(found.outcome, Outcome::valid);
  expect_contains(found.evidence, "right in all of 1 cases; the incumbent fails there: ");
  EXPECT_EQ(fewest_units.back(), Patience().fewest_units) << "as there is none to hold it against";
}

// The store of inputs, which keep the incumbent's call, has room for those of one case.
TEST_F(RegimesOfASlowReference, HaveTheUnitsOfAGateWhereTheIncumbentsCallIsLost) {
  runtime_under_test.threads = 2;
  const std::vector<CheckCase> cases = {one("n1m", "wide"), one("n1m", "typical")};
  EXPECT_EQ(gate("copy/once", "copy/once", cases).outcome, Outcome::valid);
  EXPECT_EQ(fewest_units, std::vector<std::int64_t>(fewest_units.size(), 1));
  runtime_under_test.inputs = std::make_shared<InputStore>(1, 1);
  EXPECT_EQ(gate("copy/once", "copy/once", cases).outcome, Outcome::valid);
  EXPECT_GT(std::ranges::count(fewest_units, Patience().fewest_units), 0);
}

TEST_F(EvaluateTest, ACertificateTakesThirtyEightRoundsAgainstTheBaseline) {
  const CertificationResult result =
      run_certification(copy.runtime(), {"copy/once", {}}, {"copy/sixteen_times", {}}, 0.1, plan, 0, silent);
  EXPECT_EQ(result.certification.rounds, 38);
  EXPECT_GT(result.certification.effect, 0);
  EXPECT_FALSE(result.certification.alarm);
  ASSERT_TRUE(result.certification.clock);
  EXPECT_NE(result.certification.clock->missing, "") << "this runtime has nothing that reads a clock";
  EXPECT_TRUE(result.solo_runs.empty());
}

// SoloRuns of a few milliseconds, in real processes whose clock is what the test says.
struct SoloRunsTest : EvaluateTest {
  SoloRunsTest() {
    runtime.watch_clock = [this](int pid) {
      pids.push_back(pid);
      return ClockWatch{.mhz = [this] { return clock; }, .missing = ""};
    };
    pairs = {{.name = "n4k", .axes = plan.workloads[0]->axes, .pool = make_pool(runtime, *plan.workloads[0], 3)}};
    solo_runs.preset = plan.preset;
  }
  SoloRunsResult run(const std::string& incumbent, const std::string& candidate) {
    const auto arm = [&](const std::string& name) {
      return TimedArm{{name, {}}, runtime.build({name, {}}, pairs[0].axes, false)};
    };
    pairs[0].incumbent = arm(incumbent);
    pairs[0].candidate = arm(candidate);
    testing::ProgressObserver observer([&](const Progress& progress) {
      seen.push_back(progress.done);
      EXPECT_EQ(progress.expected, 24);
    });
    double waited_s = 0;
    return run_solo_runs(runtime, pairs, solo_runs, "alone", observer, waited_s);
  }

  Runtime runtime = copy.runtime();
  std::optional<double> clock = 3000;
  std::vector<int> pids;
  std::vector<int> seen;
  std::vector<TimedWorkload> pairs;
  SoloRunPlan solo_runs{.coins = {.campaign_seed = 7, .comparison = "c"},
                        .cache = CachePolicy::warm,
                        .windows = {{.calls = 50}},
                        .solo_run_s = 0.01};
};

TEST_F(SoloRunsTest, SixBlocksOfFourInFreshProcessesGiveTheEffectOfEachArmAlone) {
  // A window of the incumbent is some 60 ms: other tests that take the CPU from the candidate's do not hide that.
  const SoloRunsResult result = run("copy/four_thousand_times", "copy/once");
  EXPECT_EQ(result.solo_runs.size(), 24u);
  EXPECT_EQ(seen.size(), 24u);
  EXPECT_EQ(seen.back(), 23);
  EXPECT_EQ(std::set(pids.begin(), pids.end()).size(), 12U) << "one an arm";
  for (const SoloRun& solo_run : result.solo_runs) {
    EXPECT_EQ(solo_run.mhz, 3000);
    EXPECT_EQ(std::fmod(solo_run.calls, 50), 0);
    EXPECT_EQ(solo_run.workload, "n4k");
  }
  EXPECT_GT(result.clock.time_effect, 0.5) << "the candidate's runs are the candidate's";
  EXPECT_EQ(result.clock.clock_effect, 0);
  EXPECT_FALSE(result.clock.coupled);
  EXPECT_EQ(result.clock.solo_run_s, 0.01);
}

TEST_F(SoloRunsTest, AClockThatCannotBeReadIsSaidAndNotInvented) {
  clock.reset();
  SoloRunsResult result = run("copy/sixteen_times", "copy/once");
  EXPECT_EQ(result.clock.missing, "the clock could not be read during a solo run");
  EXPECT_TRUE(result.solo_runs.empty());
  EXPECT_FALSE(result.clock.coupled);
  runtime.watch_clock = [](int) { return ClockWatch{.mhz = {}, .missing = "no cycles: no PMU"}; };
  result = run("copy/sixteen_times", "copy/once");
  EXPECT_EQ(result.clock.missing, "no cycles: no PMU");
}

TEST_F(SoloRunsTest, OutputsAreCheckedInSoloRunsToo) {
  try {
    run("copy/once", "copy/cheats_when_timed");
    FAIL();
  } catch (const EnvironmentError& error) {
    expect_contains(error.what(), "timed call");
  }
}

TEST_F(EvaluateTest, ListedWorkloadsBeyondWhatWasCheckedAreNamed) {
  const CheckCase small{.workload = "n4k", .axes = {{"n", 4096}}, .regimes = {"typical"}};
  const GateResult found = correctness_gate(copy.runtime(), {"copy/once", {}}, {small}, 1);
  expect_contains(found.evidence, "; not checked: the sizes of ");
  expect_contains(found.evidence, "n1m");
  EXPECT_EQ(found.evidence.find("n1001"), std::string::npos) << found.evidence;
}

// A copy repeats its 4096 elements of a unit; what lies behind them is compared where units are drawn.
TEST_F(EvaluateTest, ALargeCaseRepeatsItsInputsAndIsCheckedAsAnyOther) {
  constexpr std::int64_t kLarge = 1 << 20;
  const auto large = large_case(copy.runtime(), {"copy/once", {}}, 5, kLarge);
  ASSERT_TRUE(large);
  EXPECT_GT(large->axes.at("n"), kLarge);
  EXPECT_EQ(large->repeated_axis, "n");
  const GateResult right = correctness_gate(copy.runtime(), {"copy/once", {}}, {*large}, 5);
  EXPECT_EQ(right.outcome, Outcome::valid) << right.evidence;
  EXPECT_EQ(right.checked.largest, large->axes);
  EXPECT_EQ(right.checked.elements, 2 * large->axes.at("n"));
  Runtime small = copy.runtime();
  small.unsupported = [](const Configuration&, const Axes& axes) { return axes.at("n") > kLarge / 8 ? "large" : ""; };
  EXPECT_FALSE(large_case(small, {"copy/once", {}}, 5, kLarge)) << "not even in bytes";
}

TEST(CorrectnessPlan, ShowsEveryRegimeAndEverySmallShape) {
  const Family& family = *find_family("e88_backward");
  const auto plan = correctness_plan(family, {"b2_t64_h4_n32"}, 3);
  const CheckCase& fullest =
      *std::ranges::max_element(plan, {}, [](const CheckCase& one) { return one.regimes.size(); });
  EXPECT_EQ(fullest.regimes, family.regimes);
  EXPECT_GE(element_count(family, fullest.axes), kElementsOfEveryRegime);
  EXPECT_GE(std::ssize(plan), std::ranges::count_if(family.workloads, is_small) + 6 + 3 + 1)
      << "several for the pairs of B, T and H, and each of them as long as fits";
  const auto steps = [](const CheckCase& one) { return one.axes.at("T"); };
  const std::int64_t longest = steps(*std::ranges::max_element(plan, {}, steps));
  EXPECT_GE(longest, 511);
  EXPECT_EQ(longest % 64, 63) << longest;
  EXPECT_EQ(plan.back().workload, "b2_t64_h4_n32");
  EXPECT_EQ(plan.back().regimes.front(), "typical");
}

TEST(CorrectnessPlan, ACandidateThatTakesNoListedShapeIsStillShownEveryRegimeAndALongShape) {
  const Family& family = *find_family("copy");
  const auto takes = [](const Axes& axes) { return axes.at("n") % 24 == 0; };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<CheckCase> plan = correctness_plan(family, {}, seed, 0, takes);
    std::erase_if(plan, [&](const CheckCase& one) { return !takes(one.axes); });
    EXPECT_GE(plan.size(), 5U) << seed;
    EXPECT_TRUE(std::ranges::any_of(plan, [&](const CheckCase& one) {
      return one.regimes == family.regimes && element_count(family, one.axes) >= kElementsOfEveryRegime;
    })) << seed;
    EXPECT_TRUE(std::ranges::any_of(plan, [](const CheckCase& one) { return one.axes.at("n") >= 504; })) << seed;
  }
}

// The work of attention grows with the square of its sequence, and all of it is one unit.
constexpr const char* kAttention =
    "// apo:family    attention\n"
    "// apo:idea      o = softmax(q k^T) v\n"
    "// apo:axis      s 1..65536\n"
    "// apo:axis      d 1..128\n"
    "// apo:input     q f32[s,d] normal\n"
    "// apo:input     k f32[s,d] normal\n"
    "// apo:input     v f32[s,d] normal\n"
    "// apo:output    o f32[s,d]\n"
    "// apo:workload  s64_d16 production s=64 d=16\n"
    "// apo:workload  s37_d20 ragged s=37 d=20\n"
    "// apo:workload  s128_d32 small s=128 d=32\n"
    "// apo:workload  s4_d4 small s=4 d=4\n"
    "template <class Real>\n"
    "void reference(int64_t s, int64_t d, const Real* q, const Real* k, const Real* v, Real* o) {\n"
    "  std::vector<Real> p(s);\n"
    "  for (int64_t i = 0; i < s; ++i) {\n"
    "    Real all = 0;\n"
    "    for (int64_t j = 0; j < s; ++j)\n"
    "      all += p[j] = exp(sum<Real>(d, [&](int64_t c) { return q[i * d + c] * k[j * d + c]; }));\n"
    "    for (int64_t c = 0; c < d; ++c)\n"
    "      o[i * d + c] = sum<Real>(s, [&](int64_t j) { return p[j] * v[j * d + c]; }) / all;\n"
    "  }\n"
    "}\n";

TEST(CorrectnessPlan, LongShapesStayWithinTheWorkThatTheOracleCanDo) {
  const Family family = family_of(parse_family(kAttention, "attention.h"), test_oracle());
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto plan = correctness_plan(family, {}, seed);
    const Axes& longest =
        std::ranges::max_element(plan, {}, [](const CheckCase& one) { return one.axes.at("s"); })->axes;
    const std::int64_t s = longest.at("s");
    EXPECT_GE(s, 511) << "it is long all the same";
    EXPECT_LE(family.work(longest).flops, static_cast<double>(kMostOperationsPerElement * kMostElements)) << s;
  }
}

TEST(CorrectnessPlan, HoldsOutLegalShapesThatNobodyKnowsBefore) {
  for (const Family* family : {find_family("copy"), find_family("spin"), find_family("e88_forward")}) {
    std::set<Axes> drawn;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      for (const CheckCase& one : correctness_plan(*family, {}, seed)) {
        const Workload* listed = find_workload(*family, one.workload);
        const bool is_listed =
            std::ranges::any_of(family->workloads, [&](const Workload& other) { return other.axes == one.axes; });
        EXPECT_EQ(listed != nullptr, is_listed) << one.workload;
        EXPECT_EQ(check_axes(*family, one.axes), "") << one.workload;
        if (!is_listed) {
          drawn.insert(one.axes);
        }
      }
    }
    EXPECT_GT(drawn.size(), 10u) << family->name;
  }
}

}  // namespace
}  // namespace apo
