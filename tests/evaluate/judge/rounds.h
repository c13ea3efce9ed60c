// tests/evaluate/judge/rounds.h - rounds with chosen effects, made of raw samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/comparison.h"
#include "harness/evaluate/judge/round.h"
#include "kernels/random.h"

namespace apo {

inline std::vector<double> normals(Random& random, int count, double centre, double sd) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(centre + sd * random.normal());
  }
  return values;
}
inline std::vector<double> normals(std::uint64_t seed, int count, double centre, double sd) {
  Random random(seed);
  return normals(random, count, centre, sd);
}

// Every block has exactly this effect (to a few 1e-9: times are whole nanoseconds); the coin is the seed's.
inline RoundWorkload make_workload(const std::string& name, double effect, bool candidate_in_slot0,
                                   std::uint64_t order_seed, int blocks = 16) {
  constexpr double kCall_ns = 1e9;
  RoundWorkload workload{.workload = name};
  for (int k = 0; k < blocks; ++k) {
    Block block;
    for (const int slot : block_slots(order_seed, BlockKind::timed, 0, k)) {
      const bool candidate = (slot == 0) == candidate_in_slot0;
      block.samples.push_back({.slot = slot, .ns = std::llround(candidate ? kCall_ns * std::exp(-effect) : kCall_ns)});
    }
    workload.blocks.push_back(block);
  }
  return workload;
}

inline Round make_round(const NextStep& step, const std::vector<double>& effects) {
  Round round{.stage = step.stage, .index = step.index, .seed = round_seed(1, "test", step.stage, step.index)};
  const RoundDraw draw = draw_round(round.seed, static_cast<int>(effects.size()));
  round.candidate_in_slot0 = draw.candidate_in_slot0;
  round.seconds = 0.4;
  for (std::size_t w = 0; w < effects.size(); ++w) {
    round.workloads.push_back(make_workload(std::string("w").append(std::to_string(w)), effects[w],
                                            round.candidate_in_slot0, draw.order_seed));
  }
  return round;
}

// Runs a whole comparison; `effects_of` gives the effect of each workload for a step.
template <class EffectsOf>
Judge judge_all(const JudgePlan& plan, EffectsOf effects_of) {
  Judge judge(plan);
  for (NextStep step = judge.next(); !step.finished; step = judge.next()) {
    judge.add(make_round(step, effects_of(step)));
  }
  return judge;
}

// The verdict again, from the raw samples of the recorded rounds alone, through the same Judge.
inline Judgement replay(const JudgePlan& plan, const std::vector<Round>& rounds) {
  JudgePlan whole = plan;
  if (!rounds.empty() && rounds.front().stage == RoundStage::confirm) {  // it had no search
    whole.confirm_rounds = static_cast<int>(std::count_if(rounds.begin(), rounds.end(), [](const Round& round) {
      return round.void_why.empty() && round.stage == RoundStage::confirm;
    }));
  }
  Judge judge(whole);
  for (const Round& round : rounds) {
    judge.add(round);
  }
  return judge.judgement();
}

}  // namespace apo
