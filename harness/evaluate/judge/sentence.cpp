// harness/evaluate/judge/sentence.cpp - writes a judgement as one sentence with its numbers.
#include <cmath>

#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/comparison.h"

namespace apo {
namespace {

std::string interval(const Judgement& judgement, const std::string& lower, const std::string& upper) {
  if (!std::isfinite(judgement.lower) || !std::isfinite(judgement.upper)) {
    return "too few rounds for an interval";
  }
  return format_g(100 * judgement.confidence) + " % interval [" + lower + ", " + upper + "]";
}

std::string percent(double effect) {
  return format_percent(effect);
}

// Where rounds share processes there are fewer of these, in all stages together, than rounds in the last.
std::string over_processes(const Judgement& judgement) {
  const std::string rounds = std::to_string(judgement.rounds);
  if (judgement.processes < judgement.rounds) {
    return " over " + rounds + " rounds, several in a process";
  }
  return " over " + rounds + " fresh process" + (judgement.rounds == 1 ? "" : "es");
}

// "1.4907x faster, 98 % interval [1.4889x, 1.4921x] over 14 fresh processes"
std::string gain(const Judgement& judgement) {
  const IntervalText text = format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper());
  return text.ratio + " faster, " + interval(judgement, text.lower, text.upper) + over_processes(judgement);
}

// "+0.12 %, 98 % interval [-0.10 %, +0.34 %] over 14 fresh processes"
std::string change(const Judgement& judgement) {
  const IntervalText text = format_change(judgement.effect, judgement.lower, judgement.upper);
  return text.ratio + ", " + interval(judgement, text.lower, text.upper) + over_processes(judgement);
}

std::string describe_noise(const Judgement& judgement, const std::string& detail) {
  if (!detail.empty()) {
    return "Too noisy to judge: " + detail + ".";
  }
  return "Too noisy to claim so little: " + change(judgement) + "; claims below " + percent(judgement.minimum_claim) +
         " are refused on this machine.";
}

}  // namespace

std::string describe(const Judgement& judgement, const JudgePreset& preset, const std::string& detail) {
  switch (judgement.reason) {
    case Reason::faster:
      return gain(judgement) + ".";
    case Reason::regression:
      return "Slower: " + change(judgement) + ".";
    case Reason::equivalent:
      return "No difference that matters: " + change(judgement) + ", inside +-" +
             format_g(100 * preset.equivalence_band) + " %.";
    case Reason::no_gain:
      return "No gain of " + percent(preset.design_effect) + " is left possible: " + change(judgement) + ".";
    case Reason::confirm_failed:
      return "The gain did not come back when it was measured again: " + change(judgement) + ".";
    case Reason::guard_failed:
      return "Faster on average, but " + detail + ".";
    case Reason::unresolved:
      return "Not resolved: " + change(judgement) + "; this comparison could resolve " +
             percent(judgement.minimum_detectable) + ".";
    case Reason::noisy:
      return describe_noise(judgement, detail);
    case Reason::interrupted:
      return "Interrupted after " + std::to_string(judgement.processes) + " processes: no verdict.";
    case Reason::gate_failed:
      break;
  }
  return "Never timed.";
}

}  // namespace apo
