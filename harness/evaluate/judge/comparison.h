// harness/evaluate/judge/comparison.h - turns rounds of raw samples into a judgement, live or replayed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/decision.h"
#include "harness/evaluate/judge/guard.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// The words for a gain and a loss in a sentence, and the unit of a round.
struct Wording {
  std::string better = "faster";
  std::string worse = "slower";
  int runs = 0;  // fresh runs of each of two commands in a round; 0: a round is a process
};

// Everything that has to be fixed before the first round.
struct JudgePlan {
  JudgePreset preset;
  int index = 1;  // j: counts every timed candidate of the campaign, from 1
  CachePolicy cache_policy = CachePolicy::cold;
  int confirm_rounds = 0;  // > 0: the confirmation alone, over so many rounds
  Wording wording = {};    // of the sentence
};

// The next step of the caller: `rounds` more rounds of `stage`, after `pause_s`.
struct NextStep {
  bool finished = false;
  RoundStage stage = RoundStage::search;  // or confirm, or second_look
  int index = 0;                          // of the next round of that stage, void ones counted
  int rounds = 0;                         // rounds that count, until the judge looks again
  double pause_s = 0;                     // only before the first round of the confirmation
};

// Takes rounds one by one: a search, a confirmation, and a second look where a guard objects to what they would accept.
// The candidate is blamed for what the second look shows by itself; what only all rounds together show leaves the
// comparison unresolved.
//
// It trusts only raw samples, coins and whole-round evidence: every computed field of a round,
// its void reason included, is computed here and overwritten.
class Judge {
 public:
  explicit Judge(JudgePlan plan);

  NextStep next() const;
  // Returns the round as it has to be recorded. Throws UserError, and keeps its state, when the round is not the next
  // one of this comparison or its samples cannot be times.
  const Round& add(Round round);
  // Ends the comparison without a verdict, for a reason that is no evidence. Not once it is finished.
  void give_up(const std::string& why);
  // Final when next().finished; before that, what an interruption now would leave: inconclusive.
  Judgement judgement() const;
  const std::vector<Round>& rounds() const { return rounds_; }

 private:
  void check(const Round& round) const;
  void count_void(const Round& round);
  void look_for_objections();
  void conclude_second_look();
  // Of that stage alone; of all without one.
  std::vector<Round> counted(std::optional<RoundStage> stage = {}) const;
  int how_many_count(RoundStage stage) const;
  std::string objection(const std::vector<Round>& rounds, Proof proof) const;
  RoundStage stage() const;
  int rounds_planned() const;
  void finish(Verdict verdict, Reason reason, std::string detail);
  int rounds_of(RoundStage stage) const;

  JudgePlan plan_;
  double confirm_alpha_;
  Decision decision_;
  bool finished_ = false;
  int second_look_rounds_ = 0;  // 0: no guard objects
  Verdict verdict_ = Verdict::inconclusive;
  Reason reason_ = Reason::interrupted;
  std::string detail_;
  std::vector<Round> rounds_;
};

// The sentence for people; `detail` names what noise or a guard found.
std::string describe(const Judgement& judgement, const JudgePreset& preset, const std::string& detail,
                     const Wording& wording);

}  // namespace apo
