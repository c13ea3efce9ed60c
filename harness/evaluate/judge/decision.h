// harness/evaluate/judge/decision.h - the sequential rule: takes round effects one at a time and returns the next step.
#pragma once

#include <vector>

#include "harness/core/records/records.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {

// The search looks at the effects after 14, 22, ... rounds. A candidate that passes a look is measured again in fresh
// rounds, and only those can accept it. Random signs of identical code pass the search at most 1 time in 100 and the
// confirmation at most 1 in 100, independently.
class Decision {
 public:
  enum class Phase : std::uint8_t { search, confirm, finished };

  // `confirm_rounds` selects the confirmation alone, over that many rounds, for a candidate that passed a search
  // before.
  Decision(JudgePreset preset, double confirm_alpha, int confirm_rounds = 0);

  // Throws UserError, and does not count the effect, unless it is finite. Must not be called when finished.
  void add(double effect);

  Phase phase() const { return phase_; }
  int rounds_wanted() const;                    // effects until the next look; 0 when finished
  int rounds_planned() const;                   // effects of this stage at the next look
  double minimum_claim() const;                 // by what is known of the noise so far
  Verdict verdict() const { return verdict_; }  // inconclusive until finished
  Reason reason() const { return reason_; }     // unresolved until finished
  const std::vector<double>& search() const { return search_; }
  const std::vector<double>& confirmation() const { return confirmation_; }

 private:
  void look();
  void start_confirmation(double lower_bound);
  void conclude();
  void finish(Verdict verdict, Reason reason);

  JudgePreset profile_;
  double confirm_alpha_;
  Phase phase_ = Phase::search;
  Verdict verdict_ = Verdict::inconclusive;
  Reason reason_ = Reason::unresolved;
  std::size_t next_look_ = 0;
  int confirm_rounds_ = 0;
  std::vector<double> search_;
  std::vector<double> confirmation_;
};

// Estimates the smallest log effect that a whole comparison with this spread accepts in 95 of 100 cases (normal
// approximation; the signed-rank test needs pi/3 times the rounds of the mean).
double minimum_detectable_effect(const JudgePreset& preset, double confirm_alpha, double sd);

}  // namespace apo
