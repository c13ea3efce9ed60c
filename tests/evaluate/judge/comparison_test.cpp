// tests/evaluate/judge/comparison_test.cpp - whole comparisons: voids, guards, sentences, replay, hostile records.
#include "harness/evaluate/judge/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>

#include "harness/core/error.h"
#include "harness/evaluate/judge/campaign_claims.h"
#include "harness/evaluate/judge/signed_rank.h"
#include "kernels/random.h"
#include "tests/evaluate/judge/rounds.h"
#include "tests/evaluate/judge/simulation.h"
#include "tests/text.h"

namespace apo {
namespace {

// Of a step or a round.
template <class Place>
double noise(const Place& place, double sd, std::uint64_t salt = 0) {
  return sd * Random(derive_seed(salt, to_string(place.stage), static_cast<std::uint64_t>(place.index))).normal();
}

Judge judge_effect(double effect, double sd, const JudgePlan& plan = {.preset = standard_preset()}) {
  return judge_all(plan, [&](const NextStep& step) { return std::vector<double>{effect + noise(step, sd)}; });
}

// ---------------------------------------------------------------- rounds of two commands

Round round_of_commands(const NextStep& step, double incumbent, double candidate, bool higher = false) {
  Round round{.stage = step.stage, .index = step.index, .seed = round_seed(1, "test", step.stage, step.index)};
  round.candidate_in_slot0 = draw_round(round.seed, 0).candidate_in_slot0;
  round.commands = CommandRuns{.runs = {{false, incumbent}, {true, candidate}}, .higher_is_better = higher};
  round.seconds = 0.4;
  return round;
}

TEST(JudgeOfCommands, DecidesByTheSameRuleAndSaysWhatARoundWas) {
  Judge judge({.preset = standard_preset(), .wording = {.better = "better", .worse = "worse", .runs = 1}});
  for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
    judge.add(round_of_commands(step, 1.05 + noise(step, 0.002), 1));
  }
  const Judgement judgement = judge.judgement();
  const Judgement of_calls = judge_effect(std::log(1.05), 0.002).judgement();
  EXPECT_EQ(judgement.verdict, Verdict::accepted);
  EXPECT_EQ(judgement.rounds, of_calls.rounds);
  EXPECT_EQ(judgement.processes, 2 * of_calls.processes);
  expect_contains(judgement.sentence, "x better, 98 % interval");
  expect_contains(judgement.sentence, "over 14 fresh runs of each.");
}

TEST(JudgeOfUnknownSpread, ResolvesNoLessThanItsOwnRoundsLetItClaim) {
  const JudgePlan plan{.preset = preset_for_unknown_spread(LayoutControl::redrawn)};
  const Judgement judgement = judge_all(plan, [&](const NextStep& step) {
                                return std::vector{0.5 + noise(step, step.stage == RoundStage::confirm ? 0.1 : 0.02)};
                              }).judgement();
  EXPECT_GT(judgement.minimum_claim, 0.03);
  EXPECT_GE(judgement.minimum_detectable, judgement.minimum_claim);
}

TEST(JudgeOfCommands, RefusesWhatIsNoPairOfPositiveNumbers) {
  Judge judge({.preset = standard_preset()});
  EXPECT_THROW(judge.add(round_of_commands(judge.next(), 0, 1)), UserError);
  EXPECT_THROW(judge.add(round_of_commands(judge.next(), 1, std::nan(""))), UserError);
  EXPECT_THROW(judge.add(round_of_commands(judge.next(), -1, 1)), UserError);
  Round lonely = round_of_commands(judge.next(), 1, 1);
  lonely.commands->runs.pop_back();
  EXPECT_THROW(judge.add(lonely), UserError);
  judge.add(round_of_commands(judge.next(), 1, 1));
  EXPECT_THROW(judge.add(make_round(judge.next(), {0.1})), UserError) << "calls and commands do not mix";
}

TEST(JudgeOfCommands, TheBestOfSeveralRunsCountsEitherWayUp) {
  CommandRuns runs{.runs = {{false, 3}, {true, 5}, {true, 4}, {false, 2}}};
  EXPECT_EQ(effect_of(runs), std::log(2.0) - std::log(4.0));
  runs.higher_is_better = true;
  EXPECT_EQ(effect_of(runs), std::log(5.0) - std::log(3.0));
}

TEST(JudgeOfCommands, AShortRoundThatWaitedForACpuStillCounts) {
  Judge judge({.preset = standard_preset()});
  for (int i = 0; i < 6; ++i) {
    Round round = round_of_commands(judge.next(), 1, 1);
    round.seconds = i == 4 ? 0.4 : i == 5 ? 1 : 0.01;
    EXPECT_EQ(judge.add(round).void_why.empty(), i != 5) << i;
  }
}

TEST(Judge, GivingUpLeavesItUnresolvedWithTheReason) {
  Judge judge({.preset = standard_preset()});
  judge.add(make_round(judge.next(), {0.1}));
  judge.give_up("the budget of 1.0 s is spent");
  EXPECT_TRUE(judge.next().finished);
  EXPECT_EQ(judge.judgement().verdict, Verdict::inconclusive);
  EXPECT_EQ(judge.judgement().reason, Reason::unresolved);
  EXPECT_TRUE(judge.judgement().sentence.starts_with("Not resolved (the budget of 1.0 s is spent): "))
      << judge.judgement().sentence;
}

// ---------------------------------------------------------------- the course of a comparison

TEST(Judge, AsksForSearchThenPausesThenConfirms) {
  Judge judge({.preset = standard_preset()});
  NextStep step = judge.next();
  EXPECT_EQ(step.stage, RoundStage::search);
  EXPECT_EQ(step.rounds, 14);
  EXPECT_EQ(step.pause_s, 0);
  for (int i = 0; i < 14; ++i) {
    step = judge.next();
    EXPECT_EQ(step.index, i);
    judge.add(make_round(step, {0.05 + noise(step, 0.002)}));
  }
  step = judge.next();
  EXPECT_EQ(step.stage, RoundStage::confirm);
  EXPECT_EQ(step.index, 0);
  EXPECT_EQ(step.rounds, 14);
  EXPECT_EQ(step.pause_s, 2);
  judge.add(make_round(step, {0.05}));
  EXPECT_EQ(judge.next().pause_s, 0);
}

TEST(Judge, ConfirmationAloneRunsItsRoundsAndDecidesByThem) {
  const JudgePlan plan{.preset = standard_preset(), .confirm_rounds = 17};
  EXPECT_EQ(Judge(plan).next().stage, RoundStage::confirm);
  EXPECT_EQ(Judge(plan).next().rounds, 17);
  EXPECT_EQ(Judge(plan).next().pause_s, 0);
  const Judge judge = judge_effect(0.05, 0.002, plan);
  const Judgement judgement = judge.judgement();
  EXPECT_EQ(judgement.verdict, Verdict::accepted) << judgement.sentence;
  EXPECT_EQ(judgement.rounds, 17);
  EXPECT_EQ(judgement.processes, 17);
  EXPECT_EQ(judgement.search_effect, 0);
  EXPECT_EQ(judge_effect(0, 0.002, plan).judgement().reason, Reason::confirm_failed);
  EXPECT_EQ(replay({.preset = standard_preset()}, judge.rounds()), judgement);
}

TEST(Judge, ClaimsTheConfirmationNeverTheSearch) {
  const Judge judge = judge_all({.preset = standard_preset()}, [](const NextStep& step) {
    return std::vector<double>{(step.stage == RoundStage::search ? 0.08 : 0.05) + noise(step, 0.002)};
  });
  const Judgement judgement = judge.judgement();
  EXPECT_EQ(judgement.verdict, Verdict::accepted);
  EXPECT_NEAR(judgement.effect, 0.05, 0.003);
  EXPECT_NEAR(judgement.search_effect, 0.08, 0.003);
  EXPECT_EQ(judgement.rounds, 14);
  EXPECT_EQ(judgement.processes, 28);
  EXPECT_EQ(judgement.samples, 28 * 16 * 4);
  EXPECT_NEAR(judgement.seconds, 28 * 0.4, 1e-9);
  EXPECT_EQ(judgement.sentence.find("1.08"), std::string::npos) << judgement.sentence;
  EXPECT_NEAR(judgement.incumbent_ns / judgement.candidate_ns, std::exp(0.05), 0.003);
}

TEST(Judge, SentenceOfAnAcceptHasRatioIntervalAndProcesses) {
  const Judgement judgement = judge_effect(std::log(1.53), 0.0001).judgement();
  EXPECT_EQ(judgement.sentence, "1.5300x faster, 98 % interval [1.5299x, 1.5301x] over 14 rounds in fresh processes.");
  EXPECT_EQ(judgement.rule_version, kRuleVersion);
  EXPECT_EQ(judgement.preset, "standard");
}

TEST(Judge, RoundsThatShareProcessesAreNotCalledFreshOnes) {
  Judge judge({.preset = standard_preset()});
  for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
    Round round = make_round(step, {0.0});
    round.environment.same_process = step.index % 4 != 0;
    judge.add(round);
  }
  const Judgement judgement = judge.judgement();
  EXPECT_EQ(judgement.processes, 4);
  expect_contains(judgement.sentence, "over 14 rounds, several in a process");
}

TEST(Judge, EveryReasonHasASentenceWithItsNumbers) {
  const auto sentence = [](double effect, double sd) { return judge_effect(effect, sd).judgement().sentence; };
  EXPECT_EQ(sentence(0.0, 0.0),
            "No difference that matters: +0.00 %, 98 % interval [+0.00 %, +0.00 %] over 14 rounds in fresh "
            "processes, inside +-0.5 %.");
  EXPECT_EQ(sentence(std::log(0.9), 0.0),
            "Slower: -10.00 %, 98 % interval [-10.00 %, -10.00 %] over 14 rounds in fresh processes.");
  expect_contains(sentence(0.0, 0.007), "No gain of +1.01 % is left possible");
  const Judgement unresolved = judge_effect(0.006, 0.03).judgement();
  ASSERT_EQ(unresolved.reason, Reason::unresolved);
  expect_contains(unresolved.sentence, "this comparison could resolve +");
  EXPECT_GT(unresolved.minimum_detectable, 0.015);
}

TEST(Judge, InterruptedComparisonHasNoVerdict) {
  Judge judge({.preset = standard_preset()});
  EXPECT_EQ(judge.judgement().reason, Reason::interrupted);
  for (int i = 0; i < 20; ++i) {  // into the confirmation
    judge.add(make_round(judge.next(), {0.05}));
  }
  const Judgement judgement = judge.judgement();
  EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
  EXPECT_EQ(judgement.reason, Reason::interrupted);
  EXPECT_EQ(judgement.sentence, "Interrupted after 20 processes: no verdict.");
}

TEST(Judge, LateCandidatesNeedStrongerConfirmation) {
  EXPECT_EQ(confirm_alpha(1, standard_preset()), 0.01);
  EXPECT_EQ(confirm_alpha(50, standard_preset()), 0.01);
  EXPECT_DOUBLE_EQ(confirm_alpha(500, standard_preset()), 0.001);
  EXPECT_THROW(confirm_alpha(0, standard_preset()), UserError);
  // 13 of 14 fresh rounds gain, one loses the most: W+ = 91 passes .01 and fails .001.
  const auto effects = [](const NextStep& step) {
    const bool loses = step.stage == RoundStage::confirm && step.index == 0;
    return std::vector<double>{loses ? -0.08 : 0.05 + 0.0001 * step.index};
  };
  EXPECT_EQ(judge_all({.preset = standard_preset(), .index = 50}, effects).judgement().reason, Reason::faster);
  EXPECT_EQ(judge_all({.preset = standard_preset(), .index = 500}, effects).judgement().reason, Reason::confirm_failed);
}

// ---------------------------------------------------------------- void rounds

TEST(Judge, VoidRoundIsKeptButDoesNotCount) {
  Judge judge({.preset = standard_preset()});
  Round throttled = make_round(judge.next(), {-0.5});
  throttled.environment.throttle_bits = 0x40;
  EXPECT_NE(judge.add(throttled).void_why, "");
  EXPECT_EQ(judge.next().index, 1);
  EXPECT_EQ(judge.next().rounds, 14);
  while (!judge.next().finished) {
    judge.add(make_round(judge.next(), {0.05}));
  }
  EXPECT_EQ(judge.judgement().verdict, Verdict::accepted);
  EXPECT_EQ(judge.judgement().processes, 29);
  EXPECT_EQ(judge.judgement().rounds, 14);
}

TEST(Judge, MoreThanAFifthOfVoidRoundsIsTooNoisy) {
  Judge judge({.preset = standard_preset()});
  int added = 0;
  while (!judge.next().finished) {
    Round round = make_round(judge.next(), {0.05});
    round.environment.sm_mhz_before = 1980;
    round.environment.sm_mhz_after = added % 3 == 0 ? 1400 : 1980;
    judge.add(round);
    ++added;
  }
  EXPECT_EQ(added, 7);  // voids 1, 4 and 7; 2 of 14 would be allowed
  const Judgement judgement = judge.judgement();
  EXPECT_EQ(judgement.verdict, Verdict::inconclusive);
  EXPECT_EQ(judgement.reason, Reason::noisy);
  expect_contains(judgement.sentence, "3 of 7 rounds were void, the last because the clock went from 1980 to 1400 MHz");
}

TEST(Judge, EachStageMayHaveAFifthOfItsRoundsVoid) {
  Judge judge({.preset = standard_preset()});
  while (!judge.next().finished) {
    Round round = make_round(judge.next(), {0.05});
    round.environment.throttle_bits = round.index < 2 ? 0x40 : 0;
    judge.add(round);
  }
  EXPECT_EQ(judge.judgement().reason, Reason::faster);
  EXPECT_EQ(judge.judgement().processes, 2 * (14 + 2));
}

TEST(Judge, VoidMarksAndEffectsOfTheCallerAreIgnored) {
  Judge judge({.preset = standard_preset()});
  while (!judge.next().finished) {
    Round round = make_round(judge.next(), {0.0});
    round.void_why = "I did not like it";
    round.effect = 0.5;
    round.workloads[0].effect = 0.5;
    judge.add(round);
  }
  EXPECT_EQ(judge.judgement().reason, Reason::equivalent);
  EXPECT_EQ(judge.rounds().front().void_why, "");
}

// ---------------------------------------------------------------- guards

// A whole comparison at these effects of its workloads, each with a little noise.
Judge judge_workloads(const std::vector<double>& effects, const std::vector<double>& sds) {
  return judge_all({.preset = standard_preset()}, [&](const NextStep& step) {
    std::vector<double> noisy;
    for (std::size_t w = 0; w < effects.size(); ++w) {
      noisy.push_back(effects[w] + noise(step, sds[w], w + 1));
    }
    return noisy;
  });
}

TEST(Guard, OneWorkloadThatGotWorseStopsAnAccept) {
  const Judgement judgement = judge_workloads({0.08, 0.0, -0.02}, {0.001, 0.001, 0.001}).judgement();
  EXPECT_EQ(judgement.verdict, Verdict::reverted);
  EXPECT_EQ(judgement.reason, Reason::guard_failed);
  expect_contains(judgement.sentence, "workload w2 lost more than -1.00 %");
}

TEST(Guard, WorkloadThatMayHaveLostTooMuchStopsAnAcceptToo) {
  // Estimated inside the limit, but so noisy that -1 % is not ruled out.
  const Judge judge = judge_workloads({0.08, -0.006}, {0.001, 0.01});
  std::vector<double> second;
  for (const Round& round : judge.rounds()) {
    second.push_back(round.workloads[1].effect);
  }
  ASSERT_GT(WalshAverages(second).hodges_lehmann(), -0.01);
  EXPECT_EQ(judge.judgement().reason, Reason::unresolved) << "nothing proves a loss";
  expect_contains(judge.judgement().sentence, "workload w1 may have lost more than -1.00 %");
}

TEST(Guard, LossesWithinOnePercentAreAllowedAndTheMeanOverWorkloadsDecides) {
  EXPECT_EQ(judge_workloads({0.08, -0.005}, {0.001, 0.001}).judgement().reason, Reason::faster);
  const Judgement judgement = judge_workloads({0.03, 0.01}, {0.001, 0.001}).judgement();
  EXPECT_EQ(judgement.reason, Reason::faster);
  EXPECT_NEAR(judgement.effect, 0.02, 0.002);
}

// A whole comparison at this effect, of rounds that `change` has changed.
template <class Change>
Judgement judge_changed(double effect, Change change) {
  Judge judge({.preset = standard_preset()});
  while (!judge.next().finished) {
    Round round = make_round(judge.next(), {effect});
    change(round, round.workloads[0].blocks);
    judge.add(round);
  }
  return judge.judgement();
}

bool is_candidates(const Sample& sample, const Round& round) {
  return (sample.slot == 0) == round.candidate_in_slot0;
}

TEST(Guard, FattenedTailStopsAnAcceptThatMinOfTwoCannotSee) {
  const Judgement judgement = judge_changed(0.05, [](const Round& round, std::vector<Block>& blocks) {
    for (std::size_t k = 0; k < blocks.size(); k += 2) {  // a quarter of the candidate's calls
      Sample& slow =
          *std::ranges::find_if(blocks[k].samples, [&](const Sample& one) { return is_candidates(one, round); });
      slow.ns = slow.ns * 12 / 10;
    }
  });
  EXPECT_NEAR(judgement.effect, 0.05, 1e-6);
  EXPECT_EQ(judgement.reason, Reason::guard_failed);
  expect_contains(judgement.sentence, "the slowest tenth of the calls of workload w0");
}

// One call a round takes so long: 6x is beyond the margin that one of several workloads may lose; 2.8x loses half a
// percent, which the only one may not.
TEST(Guard, AMeanThatIsSlowerIsNeverAccepted) {
  for (const double times : {6.0, 2.8}) {
    int calls = 0;
    const Judgement judgement = judge_changed(0.05, [&](const Round& round, std::vector<Block>& blocks) {
      for (Block& block : blocks) {
        for (Sample& sample : block.samples) {
          const bool slow = is_candidates(sample, round) && ++calls % 32 == 0;
          sample.ns = std::llround(static_cast<double>(sample.ns) * (slow ? times : 1));
        }
      }
    });
    EXPECT_EQ(judgement.verdict, Verdict::reverted) << times;
    expect_contains(judgement.sentence, "all calls of workload w0 together took longer");
  }
}

TEST(Guard, ASlowestHundredthThatGotLongerStopsAnAccept) {
  const Judgement judgement = judge_changed(0.05, [](const Round& round, std::vector<Block>& blocks) {
    double factor = 1.1 + 1e-4 * round.index;
    for (Sample& sample : blocks.front().samples) {  // one call in 16, of either arm
      sample.ns = std::llround(static_cast<double>(sample.ns) * (factor + (is_candidates(sample, round) ? 0.1 : 0)));
      factor += 3e-3;
    }
  });
  EXPECT_EQ(judgement.reason, Reason::guard_failed);
  expect_contains(judgement.sentence, "the slowest hundredth of the calls of workload w0");
}

// A gain of 2 %, and an arm's first sample in so many blocks of a round takes so many times as long.
struct Burst {
  RoundStage stage;
  int round;
  bool candidate;
  int samples;
  double times;
};

Judge with_bursts(const std::vector<Burst>& bursts) {
  Judge judge({.preset = standard_preset()});
  while (!judge.next().finished) {
    const NextStep step = judge.next();
    Round round = make_round(step, {0.02});
    for (const Burst& burst : bursts) {
      const int slot = burst.candidate == round.candidate_in_slot0 ? 0 : 1;
      const int blocks = burst.stage == step.stage && burst.round == step.index ? burst.samples : 0;
      for (Block& block : std::span(round.workloads[0].blocks).first(static_cast<std::size_t>(blocks))) {
        Sample& sample = *std::ranges::find(block.samples, slot, &Sample::slot);
        sample.ns = std::llround(static_cast<double>(sample.ns) * burst.times);
      }
    }
    judge.add(round);
  }
  return judge;
}

int rounds_of(const Judge& judge, RoundStage stage) {
  return static_cast<int>(
      std::ranges::count_if(judge.rounds(), [&](const Round& round) { return round.stage == stage; }));
}

TEST(SecondLook, IsTakenOnlyWhereAGuardObjects) {
  EXPECT_EQ(rounds_of(with_bursts({}), RoundStage::second_look), 0);
  const Judge one_burst = with_bursts({{RoundStage::search, 3, true, 4, 50}});
  EXPECT_EQ(rounds_of(one_burst, RoundStage::second_look), 0) << "one burst of the machine is no evidence";
  EXPECT_EQ(one_burst.judgement().reason, Reason::faster);
}

TEST(SecondLook, ClearsAGainThatBurstsOfTheMachineHit) {
  const Judge judge = with_bursts({{RoundStage::search, 3, true, 4, 60},
                                   {RoundStage::search, 9, true, 4, 60},
                                   {RoundStage::confirm, 5, true, 4, 60},
                                   {RoundStage::second_look, 2, false, 8, 60},
                                   {RoundStage::second_look, 7, false, 4, 60}});
  EXPECT_EQ(rounds_of(judge, RoundStage::second_look), 14);
  EXPECT_EQ(judge.judgement().reason, Reason::faster) << judge.judgement().sentence;
  EXPECT_EQ(judge.judgement().rounds, 14) << "the claim is the confirmation's";
}

TEST(SecondLook, LeavesUnresolvedWhatItDoesNotShowByItself) {
  const Judge judge = with_bursts({{RoundStage::search, 3, true, 4, 60},
                                   {RoundStage::search, 9, true, 4, 60},
                                   {RoundStage::confirm, 5, true, 4, 60}});
  EXPECT_EQ(judge.judgement().verdict, Verdict::inconclusive);
  EXPECT_EQ(judge.judgement().reason, Reason::unresolved);
  expect_contains(judge.judgement().sentence, "all calls of workload w0 together took longer");
  EXPECT_EQ(replay({.preset = standard_preset()}, judge.rounds()), judge.judgement());
}

CrossChecks in_ns(CrossChecks calls, double call_ns) {
  visit_checks(calls, [&](const char* /*name*/, std::optional<double>& figure) {
    if (figure) {
      *figure *= call_ns;
    }
  });
  return calls;
}

constexpr double kCall = 1e9;  // make_workload's

// A whole comparison at +10 % whose rounds carry these figures, in calls of the incumbent.
Judgement with_figures(const CrossChecks& figures) {
  return judge_changed(0.1, [&](Round& round, const std::vector<Block>&) {
    round.workloads[0].checks = in_ns(figures, kCall * std::exp(noise(round, 0.002, 5)));
  });
}

TEST(Claim, GainThatFreshInputsDoNotShowIsRefusedAfterASecondLook) {
  const Judgement judgement = with_figures({.fresh_incumbent = 1.2, .fresh_candidate = 1.21});
  EXPECT_EQ(judgement.reason, Reason::guard_failed);
  EXPECT_EQ(judgement.processes, 3 * 14);
  expect_contains(judgement.sentence, "calls on inputs made right before them save");
}

TEST(Claim, HalfOfTheGainOnFreshInputsIsEnough) {
  EXPECT_EQ(with_figures({.fresh_incumbent = 1.2, .fresh_candidate = 1.15}).reason, Reason::faster);
}

// Rounds at no effect in which `factor` changes one arm's time of chosen samples, and which carry these figures.
Judgement with_changed_samples(bool candidate, double factor, int blocks_of_ten, int samples_of_block,
                               const CrossChecks& figures) {
  return judge_changed(0, [&](Round& round, std::vector<Block>& blocks) {
    blocks.resize(10);
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      int changed = static_cast<int>(k) < blocks_of_ten ? samples_of_block : 0;
      for (Sample& sample : blocks[k].samples) {
        if (is_candidates(sample, round) == candidate && changed-- > 0) {
          sample.ns = std::llround(static_cast<double>(sample.ns) * factor * std::exp(noise(round, 0.002, 5)));
        }
      }
    }
    round.workloads[0].checks = in_ns(figures, kCall * std::exp(noise(round, 0.002, 6)));
  });
}

TEST(Claim, GainInLessThanHalfOfTheSamplesIsHeldToAccountAsAWhole) {
  // No median shows it: of two samples of a block one is fast, and in one block of ten none.
  const Judgement judgement = with_changed_samples(true, 0.1, 9, 1, {.fresh_incumbent = 1.2, .fresh_candidate = 1.21});
  EXPECT_EQ(judgement.reason, Reason::guard_failed);
  expect_contains(judgement.sentence, "the timed calls save 90");
  EXPECT_EQ(with_changed_samples(true, 0.1, 9, 1, {.fresh_incumbent = 1.2, .fresh_candidate = 0.4}).reason,
            Reason::faster);
}

// ---------------------------------------------------------------- replay

TEST(Replay, GivesTheJudgementAgainBitForBitFromRawSamples) {
  for (const char* model : {"M5", "M8", "M9"}) {
    for (const double effect : {-0.01, 0.0, 0.01, 0.03}) {
      JudgePlan plan{.preset = extended_preset(), .index = 60};
      plan.preset.minimum_claim = 0.011;
      Judge live = simulation::run_comparison(simulation::noise_model(model), effect, plan, 17);
      std::vector<Round> raw = live.rounds();
      for (Round& round : raw) {  // nothing computed may be needed
        round.effect = round.workloads[0].effect = std::nan("");
        round.workloads[0].candidate_p90_ns = round.workloads[0].incumbent_p90_ns = -1;
        round.void_why = "forged";
      }
      const Judgement recorded = live.judgement();
      EXPECT_EQ(recorded, replay(plan, raw));
    }
  }
}

TEST(Replay, RelabellingTheSlotsChangesNothing) {
  for (const double effect : {0.0, 0.01, 0.02}) {
    const JudgePlan plan{.preset = standard_preset()};
    Judge live = simulation::run_comparison(simulation::noise_model("M9"), effect, plan, 23);
    std::vector<Round> relabelled = live.rounds();
    for (Round& round : relabelled) {
      round.candidate_in_slot0 = !round.candidate_in_slot0;
      for (Block& block : round.workloads[0].blocks) {
        for (Sample& sample : block.samples) {
          sample.slot = 1 - sample.slot;
        }
      }
    }
    EXPECT_EQ(live.judgement(), replay(plan, relabelled));
  }
}

TEST(Replay, SwappingTheArmsMirrorsTheEffectAndIsNeverAccepted) {
  const JudgePlan plan{.preset = standard_preset()};
  Judge live = judge_effect(0.02, 0.002, plan);
  ASSERT_EQ(live.judgement().verdict, Verdict::accepted);
  Judge mirrored(plan);
  for (Round round : live.rounds()) {
    round.candidate_in_slot0 = !round.candidate_in_slot0;
    if (!mirrored.next().finished) {
      mirrored.add(round);
    }
  }
  EXPECT_EQ(mirrored.judgement().reason, Reason::regression);
  EXPECT_EQ(mirrored.judgement().search_effect, -live.judgement().search_effect);
}

TEST(Replay, MissingDoubledOrForeignRoundsAreRefused) {
  const JudgePlan plan{.preset = standard_preset()};
  const std::vector<Round> rounds = judge_effect(0.02, 0.002, plan).rounds();
  const std::pair<const char*, std::function<void(std::vector<Round>&)>> changes[] = {
      {"missing", [](auto& all) { all.erase(all.begin() + 3); }},
      {"doubled", [](auto& all) { all.insert(all.begin() + 3, Round(all[3])); }},
      {"longer", [](auto& all) { all.push_back(Round(all.back())); }},
      {"early", [](auto& all) { all[0].stage = RoundStage::confirm; }},
      {"renamed", [](auto& all) { all[5].workloads[0].workload = "another"; }},
      {"thin", [](auto& all) { all[5].workloads[0].blocks.resize(5); }}};
  for (const auto& [what, change] : changes) {
    std::vector<Round> changed = rounds;
    change(changed);
    EXPECT_THROW(replay(plan, changed), UserError) << what;
  }
}

TEST(Replay, TimesThatAreNoTimesAreRefusedAndNeverAccepted) {
  const JudgePlan plan{.preset = standard_preset()};
  const std::vector<Round> rounds = judge_effect(0.02, 0.002, plan).rounds();
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    for (std::size_t r = 0; r < rounds.size(); r += 9) {
      std::vector<Round> hostile = rounds;
      hostile[r].workloads[0].blocks[2].samples[1].ns = bad;
      EXPECT_THROW(replay(plan, hostile), UserError);
    }
  }
}

TEST(Replay, RefusedRoundLeavesTheComparisonAsItWas) {
  Judge judge({.preset = standard_preset()});
  Round bad = make_round(judge.next(), {0.05});
  bad.workloads[0].blocks[0].samples[0].ns = 0;
  EXPECT_THROW(judge.add(bad), UserError);
  EXPECT_EQ(judge.next().index, 0);
  EXPECT_EQ(judge.next().rounds, 14);
  EXPECT_TRUE(judge.rounds().empty());
}

}  // namespace
}  // namespace apo
