// harness/core/records/campaign.cpp - what may be quoted of a certification.
#include "harness/core/records/campaign.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/core/interval.h"
#include "harness/core/text.h"

namespace apo {

QuotedEffect Certification::quoted() const {
  constexpr double kConfidence = 0.998;  // of the rounds' interval
  return clock_coupled() ? QuotedEffect{clock->time_effect, clock->time_lower, clock->time_upper, clock->confidence}
                         : QuotedEffect{effect, lower, upper, kConfidence};
}

int Certification::quoted_count() const {
  return clock_coupled() ? 4 * clock->blocks : rounds;
}

std::string certified_text(const Certification& certification) {
  const QuotedEffect quoted = certification.quoted();
  const bool known = !certification.clock || certification.clock->missing.empty();
  // Why it is not known is a long story, and the same in every line.
  const std::string of_clock = known ? clock_text(certification) : "whether it changes the clock is not known";
  return fmt::format("{} is {} the speed of {}{}, n={}{}", certification.incumbent.label(),
                     format_effect(quoted.effect, quoted.lower, quoted.upper), certification.baseline.label(),
                     certification.launch == LaunchForm::graph ? " as one CUDA graph" : "",
                     certification.quoted_count(), of_clock.empty() ? "" : "; " + of_clock);
}

std::string clock_text(const Certification& certification) {
  if (!certification.clock) {
    return "";
  }
  const ClockCoupling& clock = *certification.clock;
  if (!clock.missing.empty()) {
    return "whether the final incumbent changes the clock is not known: " + clock.missing;
  }
  if (!clock.coupled) {
    return "";
  }
  const double change = std::expm1(clock.clock_effect);
  return fmt::format(
      "clock-coupled: alone the final incumbent runs at a clock {} % {} than the baseline does, so the effect is that "
      "of {} "
      "solo runs of {} s with one arm alone ({} % interval); rounds in which the arms take turns gave {}",
      format_g(100 * std::fabs(change), 3), change < 0 ? "lower" : "higher", 4 * clock.blocks,
      format_g(clock.solo_run_s, 3), format_g(100 * clock.confidence, 3),
      format_effect(certification.effect, certification.lower, certification.upper));
}

}  // namespace apo
