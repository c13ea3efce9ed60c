// harness/evaluate/programs/judge_programs.cpp - takes the judge of the comparison's kind, live or over what is
// recorded.
#include "harness/evaluate/programs/judge_programs.h"

#include <algorithm>
#include <cmath>

#include "harness/core/error.h"
#include "harness/evaluate/judge/preset.h"
#include "harness/evaluate/judge_pair.h"

namespace apo {
namespace {

bool is_close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-9 * std::abs(a);
}

// exp() differs in its last bit from machine to machine.
bool same_figure(const Figure& a, const Figure& b) {
  return a.view == b.view && a.metric == b.metric && a.count == b.count && a.finding == b.finding &&
         is_close(a.value_a, b.value_a) && is_close(a.value_b, b.value_b) && is_close(a.change, b.change) &&
         is_close(a.lower, b.lower) && is_close(a.upper, b.upper);
}

bool same_judgement(const Judgement& a, const Judgement& b) {
  return a.verdict == b.verdict && a.reason == b.reason && a.effect == b.effect && a.lower == b.lower &&
         a.upper == b.upper && a.rounds == b.rounds;
}

bool can_be_decided_again(const ProgramComparison& comparison) {
  return comparison.judgement && comparison.judgement->rule_version == kRuleVersion &&
         (comparison.kind == ComparisonKind::application
              ? !comparison.runs.empty()
              : !comparison.judgement->preset.empty() && comparison.outcome == Outcome::valid);
}

void judge_again(ProgramComparison& comparison) {
  (comparison.kind == ComparisonKind::commands ? judge_rounds_again : judge_runs)(comparison);
}

}  // namespace

void judge_programs(ProgramComparison& comparison, std::uint64_t seed, const std::shared_ptr<DeviceTurns>& turns,
                    Observer& observer, const ComparisonHooks& hooks) {
  const bool commands = comparison.kind == ComparisonKind::commands;
  (commands ? judge_commands : judge_application)(comparison, seed, turns, observer, hooks);
}

void fail_b(ProgramComparison& comparison, const Failure& failure, const std::string& sentence) {
  comparison.outcome = failure.outcome;
  comparison.judgement = untimed(sentence);
  if (comparison.purpose == ComparisonPurpose::gate) {
    comparison.gate = GateVerdict::failed;
  }
}

std::string difference_on_replay(const ProgramComparison& comparison) {
  if (!can_be_decided_again(comparison)) {
    return "";
  }
  ProgramComparison again = comparison;
  try {
    judge_again(again);
  } catch (const UserError& error) {
    return std::string("its rounds cannot be judged again: ") + error.what();
  }
  const std::string& then = comparison.judgement->sentence;
  const std::string& now = again.judgement->sentence;
  const bool same = same_judgement(*again.judgement, *comparison.judgement) && again.gate == comparison.gate &&
                    (comparison.kind == ComparisonKind::commands || now == then) &&
                    std::ranges::is_permutation(again.figures, comparison.figures, same_figure);
  return same ? "" : "its runs give " + now + " where it says " + then;
}

}  // namespace apo
