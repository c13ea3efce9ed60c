// harness/evaluate/judge/gate/gate_decision.cpp - a non-inferiority test at a few looks (Lakens 2017), exact by signed
// ranks.
#include "harness/evaluate/judge/gate/gate_decision.h"

#include <algorithm>
#include <span>

#include "harness/core/error.h"
#include "harness/evaluate/judge/signed_rank.h"

namespace apo {
namespace {

WorkloadAnswer look_at(std::span<const double> effects, double margin, double alpha, double alpha_of_failing) {
  const WalshAverages averages(effects);
  WorkloadAnswer answer{.rounds = static_cast<int>(effects.size()),
                        .effect = averages.hodges_lehmann(),
                        .lower = averages.lower(alpha),
                        .upper = averages.upper(alpha_of_failing)};
  if (answer.upper < -margin) {
    answer.answer = GateAnswer::regressed;
  } else if (answer.lower > -margin) {
    answer.answer = GateAnswer::passed;
  }
  return answer;
}

WorkloadAnswer answer_of(const GateRule& rule, const std::vector<double>& effects, std::size_t workloads) {
  WorkloadAnswer answer;
  for (const Look& look : rule.looks) {
    const auto rounds = static_cast<std::size_t>(look.rounds);
    if (answer.answer != GateAnswer::undecided || rounds > effects.size()) {
      break;
    }
    answer =
        look_at(std::span(effects).first(rounds), rule.margin, look.alpha, look.alpha / static_cast<double>(workloads));
  }
  return answer;
}

int rounds_until_next_look(const GateRule& rule, std::size_t rounds) {
  for (const Look& look : rule.looks) {
    if (static_cast<std::size_t>(look.rounds) > rounds) {
      return look.rounds - static_cast<int>(rounds);
    }
  }
  return 0;
}

}  // namespace

double GateRule::alpha() const {
  double sum = 0;
  for (const Look& look : looks) {
    sum += look.alpha;
  }
  return sum;
}

GateVerdict verdict_of(GateAnswer answer) {
  return answer == GateAnswer::passed      ? GateVerdict::passed
         : answer == GateAnswer::regressed ? GateVerdict::regressed
                                           : GateVerdict::undecided;
}

GateState gate_state(const GateRule& rule, const std::vector<std::vector<double>>& effects) {
  APO_CHECK(!effects.empty() && !rule.looks.empty() && rule.margin > 0);
  GateState state;
  for (const std::vector<double>& one : effects) {
    APO_CHECK(one.size() == effects.front().size());
    state.workloads.push_back(answer_of(rule, one, effects.size()));
  }
  const auto is = [](GateAnswer wanted) {
    return [wanted](const WorkloadAnswer& workload) { return workload.answer == wanted; };
  };
  if (std::any_of(state.workloads.begin(), state.workloads.end(), is(GateAnswer::regressed))) {
    state.answer = GateAnswer::regressed;
  } else if (std::all_of(state.workloads.begin(), state.workloads.end(), is(GateAnswer::passed))) {
    state.answer = GateAnswer::passed;
  }
  state.rounds_wanted =
      state.answer == GateAnswer::undecided ? rounds_until_next_look(rule, effects.front().size()) : 0;
  state.finished = state.rounds_wanted == 0;
  return state;
}

}  // namespace apo
