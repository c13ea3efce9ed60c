// tests/loop/trial/candidate_answer_test.cpp - which word a finished experiment is answered with.
#include <gtest/gtest.h>

#include "harness/loop/trial/candidate_judge.h"

namespace apo {
namespace {

Experiment experiment(Outcome outcome, Verdict verdict, Reason reason) {
  return {.judgement = Judgement{.verdict = verdict, .reason = reason, .rounds = 14}, .outcome = outcome};
}

TEST(CandidateAnswer, AMachineThatCannotJudgeIsNoMistakeOfTheCandidate) {
  EXPECT_EQ(verdict_of(experiment(Outcome::unstable_clock, Verdict::reverted, Reason::gate_failed)),
            CandidateVerdict::not_judged);
  EXPECT_EQ(verdict_of(experiment(Outcome::faulted, Verdict::inconclusive, Reason::interrupted)),
            CandidateVerdict::not_judged)
      << "the incumbent failed";
  Experiment sentinel_failed = experiment(Outcome::valid, Verdict::inconclusive, Reason::noisy);
  sentinel_failed.judgement->rounds = 0;
  EXPECT_EQ(verdict_of(sentinel_failed), CandidateVerdict::not_judged);
}

TEST(CandidateAnswer, AFailedGateIsWrongAndTheSameCodeIsTheIncumbent) {
  for (const Outcome outcome : {Outcome::refused, Outcome::build_failed, Outcome::incorrect, Outcome::faulted,
                                Outcome::timed_out, Outcome::out_of_memory, Outcome::wrong_abi}) {
    EXPECT_EQ(verdict_of(experiment(outcome, Verdict::reverted, Reason::gate_failed)), CandidateVerdict::wrong);
  }
  EXPECT_EQ(verdict_of(experiment(Outcome::no_change, Verdict::reverted, Reason::gate_failed)),
            CandidateVerdict::incumbent);
}

TEST(CandidateAnswer, AJudgedCandidateHasTheJudgesVerdict) {
  EXPECT_EQ(verdict_of(experiment(Outcome::valid, Verdict::accepted, Reason::faster)), CandidateVerdict::accepted);
  EXPECT_EQ(verdict_of(experiment(Outcome::valid, Verdict::reverted, Reason::no_gain)), CandidateVerdict::reverted);
  EXPECT_EQ(verdict_of(experiment(Outcome::valid, Verdict::inconclusive, Reason::unresolved)),
            CandidateVerdict::inconclusive);
}

}  // namespace
}  // namespace apo
