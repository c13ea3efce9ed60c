// tests/research/prediction/evidence_test.cpp - when a refutation holds and when it expires.
#include "harness/research/prediction/evidence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/research/research.h"
#include "tests/research/fixtures.h"

namespace apo {
namespace {

using fixtures::lesson;
using fixtures::result;
using fixtures::variant;

Subject subject(const std::string& name) {
  return {.configuration = {.variant = "toy/" + name, .settings = {}}, .source_hash = "hash-" + name};
}

// Why toy/a may not be tried against toy/simple.
std::string refuted(const ResearchInputs& in) {
  return Evidence(in).refuted(subject("a"), subject("simple"));
}

ResearchInputs research_of(std::vector<PastResult> past, bool lessons = false) {
  ResearchInputs in = fixtures::inputs({variant("a", "x"), variant("b", "y"), variant("c", "z")});
  for (std::size_t i = 0; lessons && i < past.size(); ++i) {
    in.lessons.push_back(lesson(past[i]));
  }
  in.past = std::move(past);
  return in;
}

PastResult failed(Verdict verdict, Outcome outcome) {
  PastResult past = result(5, "a", "simple", 1, verdict);
  past.timed = false;
  past.outcome = outcome;
  return past;
}

TEST(Evidence, ARevertedExperimentRefutesWithItsNumberAndAnInconclusiveOneNothing) {
  EXPECT_EQ(refuted(research_of({result(12, "a", "simple", 0.97, Verdict::reverted)}, true)),
            "refuted by experiment 12: 0.970x [0.960x, 0.980x]");
  EXPECT_EQ(refuted(research_of({result(12, "a", "simple", 0.97, Verdict::inconclusive)}, true)), "");
}

TEST(Evidence, ARefutationExpiresWithEachThingItDependsOn) {
  const ResearchInputs in = research_of({result(12, "a", "simple", 0.97, Verdict::reverted)}, true);
  EXPECT_NE(refuted(in), "");
  Subject edited = subject("a");
  edited.source_hash = "edited";
  EXPECT_EQ(Evidence(in).refuted(edited, subject("simple")), "") << "the candidate's source";
  EXPECT_EQ(Evidence(in).refuted(subject("a"), subject("b")), "") << "the incumbent";
  Subject edited_incumbent = subject("simple");
  edited_incumbent.source_hash = "edited";
  EXPECT_EQ(Evidence(in).refuted(subject("a"), edited_incumbent), "") << "the incumbent's source";
  ResearchInputs elsewhere = in;
  elsewhere.machine = "other";
  EXPECT_EQ(refuted(elsewhere), "") << "the machine";
  ResearchInputs other_class = in;
  other_class.workload_class = "other";
  EXPECT_EQ(refuted(other_class), "") << "the workload class";
}

TEST(Evidence, ALossOnAnotherWorkloadOfTheClassRefutesNothingHere) {
  PastResult past = result(12, "a", "simple", 0.66, Verdict::reverted);
  past.workload = "w";
  EXPECT_NE(refuted(research_of({past}, true)), "");
  past.workload = "another";
  EXPECT_EQ(refuted(research_of({past}, true)), "");
}

TEST(Evidence, AFailedGateRefutesAgainstAnyIncumbent) {
  PastResult past = failed(Verdict::reverted, Outcome::incorrect);
  past.evidence = "d_k is off by 3 sigmas";
  const Evidence evidence(research_of({past}));
  EXPECT_EQ(evidence.refuted(subject("a"), subject("b")),
            "refuted by experiment 5: incorrect (d_k is off by 3 sigmas)");
}

TEST(Evidence, AFailureThatIsNobodysOrTheClocksRefutesNothing) {
  EXPECT_EQ(refuted(research_of({failed(Verdict::inconclusive, Outcome::unstable_clock)})), "");
  EXPECT_EQ(refuted(research_of({failed(Verdict::inconclusive, Outcome::incorrect)})), "");
}

TEST(Evidence, DefaultsLeftOutAndDefaultsWrittenAreTheSame) {
  ResearchInputs in = research_of({result(12, "a", "simple", 0.97, Verdict::reverted)}, true);
  in.variants[0].variant.tunables = {{.name = "CHUNK", .values = {16, 8}}};
  const Subject written{{.variant = "toy/a", .settings = {{"CHUNK", 16}}}, "hash-a"};
  const Subject other{{.variant = "toy/a", .settings = {{"CHUNK", 8}}}, "hash-a"};
  EXPECT_NE(Evidence(in).refuted(written, subject("simple")), "");
  EXPECT_EQ(Evidence(in).refuted(other, subject("simple")), "");
}

TEST(Evidence, TriesAreThoseOfThisMachineAndClassByTextAndInAll) {
  PastResult elsewhere = result(1, "a", "simple", 1.5, Verdict::accepted);
  elsewhere.machine = "other";
  PastResult older = result(2, "a", "simple", 0.9, Verdict::reverted);
  older.candidate_source_hash = "older";
  const Evidence evidence(research_of({elsewhere, older, result(3, "b", "simple", 1.1, Verdict::accepted)}));
  EXPECT_EQ(evidence.tries("toy/a", "hash-a"), 0);
  EXPECT_EQ(evidence.tries("toy/a"), 1);
  EXPECT_EQ(evidence.tries("toy/b", "hash-b"), 1);
}

TEST(PastResult, IsReadFromAnExperiment) {
  Experiment experiment;
  experiment.id = 3;
  experiment.candidate = {.variant = "toy/a", .settings = {}};
  experiment.workloads = {"small", "large"};
  const Machine machine{.id = "machine", .model = "NVIDIA H200", .isa = "sm_90"};
  experiment.judgement =
      Judgement{.verdict = Verdict::accepted, .effect = 0.1, .lower = 0.05, .upper = 0.15, .rounds = 14};
  PastResult past = past_result(experiment, machine);
  EXPECT_TRUE(past.timed);
  EXPECT_EQ(past.machine, "machine");
  EXPECT_EQ(past.model, "NVIDIA H200");
  EXPECT_EQ(past.isa, "sm_90");
  EXPECT_EQ(past.workload, "small");
  EXPECT_EQ(past.verdict, Verdict::accepted);
  EXPECT_DOUBLE_EQ(past.upper, 0.15);
  experiment.outcome = Outcome::incorrect;
  experiment.gates = {{.gate = "build"}, {.gate = "correctness", .outcome = Outcome::incorrect, .evidence = "NaN"}};
  past = past_result(experiment, machine);
  EXPECT_FALSE(past.timed);
  EXPECT_EQ(past.evidence, "NaN");
}

Profile waiting(double barrier, double memory) {
  Profile profile;
  profile.metrics = {{.name = "stall_barrier", .value = barrier},
                     {.name = "stall_long_scoreboard", .value = memory},
                     {.name = "stall_selected", .value = 0.9}};
  return profile;
}

TEST(LessonCondition, ChangesWhereTheStallOfThenIsHalfOfTheLargestOrLess) {
  const LessonCondition then{.stall = "barrier", .stall_share = 0.4};
  EXPECT_EQ(changed_stall(then, waiting(0.4, 0.2)), "");
  EXPECT_EQ(changed_stall(then, waiting(0.21, 0.4)), "") << "two nearly equal ones change places";
  EXPECT_EQ(changed_stall(then, waiting(0.1, 0.4)),
            "the incumbent waited for barriers then and waits for global or local memory now");
}

TEST(LessonCondition, HoldsWhereNobodySampled) {
  EXPECT_EQ(changed_stall({}, waiting(0.1, 0.4)), "");
  EXPECT_EQ(changed_stall({.stall = "barrier"}, Profile()), "");
}

ResearchInputs lost_to_barriers() {
  ResearchInputs in = fixtures::inputs({variant("a", "x", 1.2, 1.4)});
  in.model = "NVIDIA H200";
  in.lessons = {lesson(result(12, "a", "simple", 0.97, Verdict::reverted))};
  in.lessons[0].condition = {.model = "NVIDIA H200", .workloads = {"w"}, .stall = "barrier", .stall_share = 0.4};
  return in;
}

TEST(Evidence, ARefutationHoldsOnAnotherDeviceOfTheModel) {
  ResearchInputs in = lost_to_barriers();
  in.machine = "another H200";
  EXPECT_EQ(refuted(in), "refuted by experiment 12: 0.97x");
  in.model = "NVIDIA A100";
  EXPECT_EQ(refuted(in), "");
}

TEST(Evidence, ARefutationIsOfTheWorkloadThatItsConditionNames) {
  ResearchInputs in = lost_to_barriers();
  in.lessons[0].condition.workloads = {"another"};
  EXPECT_EQ(refuted(in), "");
}

TEST(Evidence, ARefutationExpiresWithWhatTheIncumbentWaitsForAndSaysSo) {
  ResearchInputs in = lost_to_barriers();
  in.diagnosis.profile.metrics = waiting(0.4, 0.1).metrics;
  EXPECT_TRUE(research(in).ranked.empty());
  EXPECT_EQ(Evidence(in).expired(subject("a"), subject("simple")), "");
  in.diagnosis.profile.metrics = waiting(0.05, 0.4).metrics;
  const ResearchBrief brief = research(in);
  ASSERT_EQ(brief.ranked.size(), 1u);
  EXPECT_NE(brief.ranked[0].why.find("Now experiment 12 refuted it, but the incumbent waited for barriers then and "
                                     "waits for global or local memory now"),
            std::string::npos)
      << brief.ranked[0].why;
}

}  // namespace

}  // namespace apo
