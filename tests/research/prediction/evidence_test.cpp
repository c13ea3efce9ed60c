// tests/research/prediction/evidence_test.cpp - measured chains, and when a refutation holds and when it expires.
#include "harness/research/prediction/evidence.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <iterator>

#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::lesson;
using fixtures::result;
using fixtures::variant;

Subject subject(const std::string& name) {
  return {.configuration = {.variant = "toy/" + name, .settings = {}}, .source_hash = "hash-" + name};
}

ResearchInputs research_of(std::vector<PastResult> past, bool lessons = false) {
  ResearchInputs in = fixtures::inputs({variant("a", "x"), variant("b", "y"), variant("c", "z")});
  for (const PastResult& one : past) {
    if (lessons) {
      in.lessons.push_back(lesson(one));
    }
  }
  in.past = std::move(past);
  return in;
}

TEST(Evidence, AComparisonIsReadInBothDirections) {
  const Evidence evidence(research_of({result(1, "a", "simple", 1.5, Verdict::accepted)}));
  EXPECT_NEAR(evidence.measured(subject("simple"), subject("a"))->effect, std::log(1.5), 1e-12);
  EXPECT_NEAR(evidence.measured(subject("a"), subject("simple"))->effect, -std::log(1.5), 1e-12);
  EXPECT_FALSE(evidence.measured(subject("simple"), subject("b")));
}

// c / a = 1.2 and a / simple = 1.5 give c / simple = 1.8; the half-widths add in squares.
TEST(Evidence, AChainMultipliesAndItsUncertaintyGrows) {
  const Evidence evidence(
      research_of({result(1, "a", "simple", 1.5, Verdict::accepted), result(2, "c", "a", 1.2, Verdict::accepted)}));
  const auto effect = evidence.measured(subject("simple"), subject("c"));
  ASSERT_TRUE(effect);
  EXPECT_NEAR(std::exp(effect->effect), 1.8, 1e-12);
  EXPECT_NEAR(effect->half_width, 0.01 * std::sqrt(2), 1e-12);
  EXPECT_EQ(name_experiments(effect->experiments), "experiments 1, 2");
}

TEST(Evidence, TheMorePreciseWayWins) {
  PastResult vague = result(1, "a", "simple", 2.0, Verdict::accepted);
  vague.lower = vague.effect - 0.5;
  vague.upper = vague.effect + 0.5;
  const Evidence evidence(research_of({vague, result(2, "a", "simple", 1.5, Verdict::accepted)}));
  EXPECT_NEAR(std::exp(evidence.measured(subject("simple"), subject("a"))->effect), 1.5, 1e-12);
}

// Of two ways that are as precise, the one that the older experiments make.
TEST(Evidence, OfEquallyPreciseWaysTheFirstCounts) {
  std::vector<PastResult> past = {
      result(1, "b", "simple", 1.2, Verdict::accepted), result(2, "a", "simple", 1.1, Verdict::accepted),
      result(3, "c", "a", 1.3, Verdict::accepted), result(4, "c", "b", 1.4, Verdict::accepted),
      result(5, "a", "simple", 1.9, Verdict::accepted)};
  for (PastResult& one : past) {
    one.effect = 0.125 * static_cast<double>(one.experiment);
    one.lower = one.effect - 0.0625;
    one.upper = one.effect + 0.0625;
  }
  const Evidence evidence(research_of(std::move(past)));
  EXPECT_EQ(name_experiments(evidence.measured(subject("simple"), subject("c"))->experiments), "experiments 1, 4");
  EXPECT_EQ(name_experiments(evidence.measured(subject("simple"), subject("a"))->experiments), "experiment 2");
  EXPECT_EQ(evidence.measured(subject("b"), subject("b"))->experiments.size(), 0U);
}

// Each step of a long campaign against the one before, and one comparison that nothing leads to.
TEST(Evidence, TwentyThousandExperimentsAreNoLoad) {
  std::vector<PastResult> past;
  constexpr int kExperiments = 20'000;
  for (int number = 1; number < kExperiments; ++number) {
    PastResult one = result(number, "a", "a", 1.0001, Verdict::accepted);
    one.candidate.settings = {{"K", number}};
    one.incumbent.settings = {{"K", number - 1}};
    past.push_back(one);
  }
  past.push_back(result(kExperiments, "c", "b", 1.5, Verdict::accepted));
  const Evidence evidence(research_of(std::move(past)));
  Subject first = subject("a");
  first.configuration.settings = {{"K", 0}};
  Subject last = first;
  const auto start = std::chrono::steady_clock::now();
  for (int number = 100; number < kExperiments; number += 100) {
    last.configuration.settings = {{"K", number}};
    const auto effect = evidence.measured(first, last);
    ASSERT_TRUE(effect) << number;
    ASSERT_EQ(std::ssize(effect->experiments), number);
  }
  EXPECT_FALSE(evidence.measured(first, subject("c")));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << "some hundredths of a second";
}

TEST(Evidence, AnotherMachineClassOrSourceIsNoEvidence) {
  for (const int what : {0, 1, 2}) {
    PastResult past = result(1, "a", "simple", 1.5, Verdict::accepted);
    (what == 0 ? past.machine : what == 1 ? past.workload_class : past.candidate_source_hash) = "other";
    EXPECT_FALSE(Evidence(research_of({past})).measured(subject("simple"), subject("a"))) << what;
  }
}

TEST(Evidence, ResultsThatWereNotTimedOrAreNotFiniteAreNoEdges) {
  PastResult untimed = result(1, "a", "simple", 1.5, Verdict::reverted);
  untimed.timed = false;
  PastResult broken = result(2, "b", "simple", 1.5, Verdict::reverted);
  broken.effect = std::nan("");
  const Evidence evidence(research_of({untimed, broken}));
  EXPECT_FALSE(evidence.measured(subject("simple"), subject("a")));
  EXPECT_FALSE(evidence.measured(subject("simple"), subject("b")));
}

TEST(Evidence, ARevertedExperimentRefutesWithItsNumber) {
  const Evidence evidence(research_of({result(12, "a", "simple", 0.97, Verdict::reverted)}, true));
  EXPECT_EQ(evidence.refuted(subject("a"), subject("simple")), "refuted by experiment 12: 0.970x [0.960x, 0.980x]");
}

TEST(Evidence, AnInconclusiveExperimentRefutesNothing) {
  const Evidence evidence(research_of({result(12, "a", "simple", 0.97, Verdict::inconclusive)}, true));
  EXPECT_EQ(evidence.refuted(subject("a"), subject("simple")), "");
}

TEST(Evidence, ARefutationExpiresWithEachThingItDependsOn) {
  const ResearchInputs in = research_of({result(12, "a", "simple", 0.97, Verdict::reverted)}, true);
  EXPECT_NE(Evidence(in).refuted(subject("a"), subject("simple")), "");
  Subject edited = subject("a");
  edited.source_hash = "edited";
  EXPECT_EQ(Evidence(in).refuted(edited, subject("simple")), "") << "the candidate's source";
  EXPECT_EQ(Evidence(in).refuted(subject("a"), subject("b")), "") << "the incumbent";
  Subject edited_incumbent = subject("simple");
  edited_incumbent.source_hash = "edited";
  EXPECT_EQ(Evidence(in).refuted(subject("a"), edited_incumbent), "") << "the incumbent's source";
  ResearchInputs elsewhere = in;
  elsewhere.machine = "other";
  EXPECT_EQ(Evidence(elsewhere).refuted(subject("a"), subject("simple")), "") << "the machine";
  ResearchInputs other_class = in;
  other_class.workload_class = "other";
  EXPECT_EQ(Evidence(other_class).refuted(subject("a"), subject("simple")), "") << "the workload class";
}

TEST(Evidence, AFailedGateRefutesAgainstAnyIncumbent) {
  PastResult past = result(5, "a", "simple", 1, Verdict::reverted);
  past.timed = false;
  past.outcome = Outcome::incorrect;
  past.evidence = "d_k is off by 3 sigmas";
  const Evidence evidence(research_of({past}));
  EXPECT_EQ(evidence.refuted(subject("a"), subject("b")),
            "refuted by experiment 5: incorrect (d_k is off by 3 sigmas)");
}

TEST(Evidence, AnUnstableClockRefutesNothing) {
  PastResult past = result(5, "a", "simple", 1, Verdict::inconclusive);
  past.timed = false;
  past.outcome = Outcome::unstable_clock;
  EXPECT_EQ(Evidence(research_of({past})).refuted(subject("a"), subject("simple")), "");
}

TEST(Evidence, DefaultsLeftOutAndDefaultsWrittenAreTheSame) {
  ResearchInputs in = research_of({result(12, "a", "simple", 0.97, Verdict::reverted)}, true);
  in.variants[0].variant.tunables = {{.name = "CHUNK", .values = {16, 8}}};
  const Subject written{{.variant = "toy/a", .settings = {{"CHUNK", 16}}}, "hash-a"};
  const Subject other{{.variant = "toy/a", .settings = {{"CHUNK", 8}}}, "hash-a"};
  EXPECT_NE(Evidence(in).refuted(written, subject("simple")), "");
  EXPECT_EQ(Evidence(in).refuted(other, subject("simple")), "");
}

TEST(Evidence, TrackRecordIsLaplacesRule) {
  PastResult won = result(1, "a", "simple", 1.5, Verdict::accepted);
  PastResult lost = result(2, "b", "simple", 0.9, Verdict::reverted);
  won.techniques = lost.techniques = {"t"};
  EXPECT_DOUBLE_EQ(Evidence(research_of({})).track_record("t"), 1);
  EXPECT_DOUBLE_EQ(Evidence(research_of({won})).track_record("t"), 4.0 / 3);
  EXPECT_DOUBLE_EQ(Evidence(research_of({won, lost})).track_record("t"), 1);
  EXPECT_DOUBLE_EQ(Evidence(research_of({lost})).track_record("t"), 2.0 / 3);
}

TEST(PastResult, IsReadFromAnExperiment) {
  Experiment experiment;
  experiment.id = 3;
  experiment.candidate = {.variant = "toy/a", .settings = {}};
  experiment.judgement =
      Judgement{.verdict = Verdict::accepted, .effect = 0.1, .lower = 0.05, .upper = 0.15, .rounds = 14};
  PastResult past = past_result(experiment, "machine");
  EXPECT_TRUE(past.timed);
  EXPECT_EQ(past.verdict, Verdict::accepted);
  EXPECT_DOUBLE_EQ(past.upper, 0.15);
  experiment.outcome = Outcome::incorrect;
  experiment.gates = {{.gate = "build"}, {.gate = "correctness", .outcome = Outcome::incorrect, .evidence = "NaN"}};
  past = past_result(experiment, "machine");
  EXPECT_FALSE(past.timed);
  EXPECT_EQ(past.evidence, "NaN");
}

}  // namespace
}  // namespace apo
