// harness/core/records/records.cpp - names of the records' enums, and values derived from their fields.
#include "harness/core/records/records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "harness/core/interval.h"
#include "harness/core/records/selftest_record.h"
#include "harness/core/text.h"

namespace apo {
namespace {

template <class Enum, std::size_t Size>
using Words = std::array<std::pair<Enum, std::string_view>, Size>;

constexpr Words<Outcome, 10> kOutcomes = {{{Outcome::valid, "valid"},
                                           {Outcome::refused, "refused"},
                                           {Outcome::build_failed, "build_failed"},
                                           {Outcome::no_change, "no_change"},
                                           {Outcome::wrong_abi, "wrong_abi"},
                                           {Outcome::incorrect, "incorrect"},
                                           {Outcome::faulted, "faulted"},
                                           {Outcome::timed_out, "timed_out"},
                                           {Outcome::out_of_memory, "out_of_memory"},
                                           {Outcome::unstable_clock, "unstable_clock"}}};
constexpr Words<Verdict, 3> kVerdicts = {
    {{Verdict::accepted, "accepted"}, {Verdict::reverted, "reverted"}, {Verdict::inconclusive, "inconclusive"}}};
constexpr Words<Reason, 10> kReasons = {{{Reason::faster, "faster"},
                                         {Reason::regression, "regression"},
                                         {Reason::equivalent, "equivalent"},
                                         {Reason::no_gain, "no_gain"},
                                         {Reason::confirm_failed, "confirm_failed"},
                                         {Reason::guard_failed, "guard_failed"},
                                         {Reason::gate_failed, "gate_failed"},
                                         {Reason::unresolved, "unresolved"},
                                         {Reason::noisy, "noisy"},
                                         {Reason::interrupted, "interrupted"}}};

template <class Enum, std::size_t Size>
std::string_view word_of(const Words<Enum, Size>& words, Enum value) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& entry) { return entry.first == value; });
  return found == words.end() ? "?" : found->second;
}

template <class Enum, std::size_t Size>
std::optional<Enum> value_of(const Words<Enum, Size>& words, std::string_view word) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& entry) { return entry.second == word; });
  return found == words.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace

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
  return certification.champion.label() + " is " +
         format_interval(std::exp(quoted.effect), std::exp(quoted.lower), std::exp(quoted.upper)).all() +
         " the speed of " + certification.baseline.label() + ", n=" + std::to_string(certification.quoted_count()) +
         (of_clock.empty() ? "" : "; " + of_clock);
}

std::string clock_text(const Certification& certification) {
  if (!certification.clock) {
    return "";
  }
  const ClockCoupling& clock = *certification.clock;
  if (!clock.missing.empty()) {
    return "whether the champion changes the clock is not known: " + clock.missing;
  }
  if (!clock.coupled) {
    return "";
  }
  const double change = std::expm1(clock.clock_effect);
  return "clock-coupled: alone the champion runs at a clock " + format_g(100 * std::fabs(change), 3) + " % " +
         (change < 0 ? "lower" : "higher") + " than the baseline does, so the effect is that of " +
         std::to_string(4 * clock.blocks) + " solo runs of " + format_g(clock.solo_run_s, 3) +
         " s with one arm alone (" + format_g(100 * clock.confidence, 3) +
         " % interval); rounds in which the arms take turns gave " +
         format_interval(std::exp(certification.effect), std::exp(certification.lower), std::exp(certification.upper))
             .all();
}

Settings default_settings(const Variant& variant) {
  Settings settings;
  for (const Tunable& tunable : variant.tunables) {
    settings[tunable.name] = tunable.values.front();
  }
  return settings;
}

std::string Configuration::label() const {
  if (settings.empty()) {
    return variant;
  }
  std::vector<std::string> parts;
  for (const auto& [name, value] : settings) {
    parts.push_back(name + "=" + std::to_string(value));
  }
  return variant + "[" + join(parts, ",") + "]";
}

double Judgement::speedup() const {
  return std::exp(effect);
}
double Judgement::speedup_lower() const {
  return std::exp(lower);
}
double Judgement::speedup_upper() const {
  return std::exp(upper);
}

double Profile::metric(const std::string& name) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const Metric& one) { return one.name == name; });
  return found == metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

std::string_view to_string(Outcome outcome) {
  return word_of(kOutcomes, outcome);
}
std::string_view to_string(Verdict verdict) {
  return word_of(kVerdicts, verdict);
}
std::string_view to_string(Reason reason) {
  return word_of(kReasons, reason);
}
std::string_view to_string(BottleneckKind kind) {
  switch (kind) {
    case BottleneckKind::cause:
      return "cause";
    case BottleneckKind::limit:
      return "limit";
    case BottleneckKind::remainder:
      return "remainder";
    case BottleneckKind::unknown:
      return "unknown";
  }
  return "?";
}
std::optional<Outcome> outcome_from(std::string_view text) {
  return value_of(kOutcomes, text);
}
std::optional<Verdict> verdict_from(std::string_view text) {
  return value_of(kVerdicts, text);
}
std::optional<Reason> reason_from(std::string_view text) {
  return value_of(kReasons, text);
}

BottleneckKind bottleneck_kind_from(std::string_view text) {
  for (const BottleneckKind kind : {BottleneckKind::cause, BottleneckKind::limit, BottleneckKind::remainder}) {
    if (to_string(kind) == text) {
      return kind;
    }
  }
  return BottleneckKind::unknown;
}

const char* to_string(SelftestKind kind) {
  return kind == SelftestKind::aa ? "aa" : kind == SelftestKind::power ? "power" : "layout";
}

}  // namespace apo
