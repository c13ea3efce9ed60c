// harness/evaluate/judge/sentence.cpp - writes a judgement as one sentence with its numbers.
#include <fmt/format.h>

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

// Where rounds share processes there are fewer of these, in all stages together, than rounds in the last.
std::string over_processes(const Judgement& judgement, const Wording& wording) {
  const int rounds = judgement.rounds;
  if (wording.runs > 1) {
    return fmt::format(" over {} rounds of {} fresh runs of each", rounds, wording.runs);
  }
  if (wording.runs == 1) {
    return fmt::format(" over {} fresh run{} of each", rounds, rounds == 1 ? "" : "s");
  }
  if (judgement.processes < rounds) {
    return fmt::format(" over {} rounds, several in a process", rounds);
  }
  return fmt::format(" over {} round{} in fresh processes", rounds, rounds == 1 ? "" : "s");
}

// "1.4907x faster, 98 % interval [1.4889x, 1.4921x] over 14 rounds in fresh processes"
std::string gain(const Judgement& judgement, const Wording& wording) {
  const IntervalText text = format_interval(judgement.speedup(), judgement.speedup_lower(), judgement.speedup_upper());
  return text.ratio + " " + wording.better + ", " + interval(judgement, text.lower, text.upper) +
         over_processes(judgement, wording);
}

// "+0.12 %, 98 % interval [-0.10 %, +0.34 %] over 14 rounds in fresh processes"
std::string change(const Judgement& judgement, const Wording& wording) {
  const IntervalText text = format_change(judgement.effect, judgement.lower, judgement.upper);
  return text.ratio + ", " + interval(judgement, text.lower, text.upper) + over_processes(judgement, wording);
}

std::string describe_noise(const Judgement& judgement, const std::string& detail, const Wording& wording) {
  if (!detail.empty()) {
    return "Too noisy to judge: " + detail + ".";
  }
  return "Too noisy to claim so little: " + change(judgement, wording) + "; claims below " +
         format_percent(judgement.minimum_claim) + " are refused on this machine.";
}

// "Slower".
std::string capitalised(std::string word) {
  word.front() = static_cast<char>(word.front() - 'a' + 'A');
  return word;
}

}  // namespace

std::string describe(const Judgement& judgement, const JudgePreset& preset, const std::string& detail,
                     const Wording& wording) {
  switch (judgement.reason) {
    case Reason::faster:
      return gain(judgement, wording) + ".";
    case Reason::regression:
      return capitalised(wording.worse) + ": " + change(judgement, wording) + ".";
    case Reason::equivalent:
      return "No difference that matters: " + change(judgement, wording) + ", inside +-" +
             format_g(100 * preset.equivalence_band) + " %.";
    case Reason::no_gain:
      return "No gain of " + format_percent(preset.design_effect) + " is left possible: " + change(judgement, wording) +
             ".";
    case Reason::confirm_failed:
      return "The gain did not come back when it was measured again: " + change(judgement, wording) + ".";
    case Reason::guard_failed:
      return capitalised(wording.better) + " as a rule, but " + detail + ".";
    case Reason::unresolved:
      return "Not resolved" + (detail.empty() ? "" : " (" + detail + ")") + ": " + change(judgement, wording) +
             "; this comparison could resolve " + format_percent(judgement.minimum_detectable) + ".";
    case Reason::ranked:
      return "Ranked, not decided: " + change(judgement, wording) + ".";
    case Reason::noisy:
      return describe_noise(judgement, detail, wording);
    case Reason::interrupted:
      return fmt::format("Interrupted after {} processes: no verdict.", judgement.processes);
    case Reason::gate_failed:
    case Reason::not_replicated:  // which devices say, and not a judge
    case Reason::quality_lost:    // of an application, which has sentences of its own
      break;
  }
  return "Never timed.";
}

}  // namespace apo
