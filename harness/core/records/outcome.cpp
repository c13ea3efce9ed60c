// harness/core/records/outcome.cpp - the words of outcomes, verdicts and reasons.
#include "harness/core/records/outcome.h"

#include "harness/core/words.h"

namespace apo {
namespace {

constexpr EnumWords<Outcome, 14> kOutcomes = {{{Outcome::valid, "valid"},
                                               {Outcome::refused, "refused"},
                                               {Outcome::build_failed, "build_failed"},
                                               {Outcome::no_change, "no_change"},
                                               {Outcome::wrong_abi, "wrong_abi"},
                                               {Outcome::incorrect, "incorrect"},
                                               {Outcome::faulted, "faulted"},
                                               {Outcome::timed_out, "timed_out"},
                                               {Outcome::out_of_memory, "out_of_memory"},
                                               {Outcome::unstable_clock, "unstable_clock"},
                                               {Outcome::no_metric, "no_metric"},
                                               {Outcome::not_finite, "not_finite"},
                                               {Outcome::left_processes, "left_processes"},
                                               {Outcome::not_checkable, "not_checkable"}}};
constexpr EnumWords<Verdict, 3> kVerdicts = {
    {{Verdict::accepted, "accepted"}, {Verdict::reverted, "reverted"}, {Verdict::inconclusive, "inconclusive"}}};
constexpr EnumWords<Reason, 13> kReasons = {{{Reason::faster, "faster"},
                                             {Reason::regression, "regression"},
                                             {Reason::equivalent, "equivalent"},
                                             {Reason::no_gain, "no_gain"},
                                             {Reason::confirm_failed, "confirm_failed"},
                                             {Reason::guard_failed, "guard_failed"},
                                             {Reason::gate_failed, "gate_failed"},
                                             {Reason::quality_lost, "quality_lost"},
                                             {Reason::not_replicated, "not_replicated"},
                                             {Reason::unresolved, "unresolved"},
                                             {Reason::ranked, "ranked"},
                                             {Reason::noisy, "noisy"},
                                             {Reason::interrupted, "interrupted"}}};
constexpr EnumWords<GateVerdict, 4> kGateVerdicts = {{{GateVerdict::passed, "passed"},
                                                      {GateVerdict::regressed, "regressed"},
                                                      {GateVerdict::failed, "failed"},
                                                      {GateVerdict::undecided, "undecided"}}};

}  // namespace

bool is_lasting(Outcome outcome) {
  return outcome != Outcome::valid && outcome != Outcome::unstable_clock && outcome != Outcome::no_change;
}

std::string_view outcome_text(const GateResult& gate) {
  return gate.ran ? to_string(gate.outcome) : "not checked";
}

std::string_view to_string(Outcome outcome) {
  return word_of(kOutcomes, outcome);
}
std::optional<Outcome> outcome_from(std::string_view text) {
  return value_of(kOutcomes, text);
}
std::string_view to_string(Verdict verdict) {
  return word_of(kVerdicts, verdict);
}
std::optional<Verdict> verdict_from(std::string_view text) {
  return value_of(kVerdicts, text);
}
std::string_view to_string(Reason reason) {
  return word_of(kReasons, reason);
}
std::optional<Reason> reason_from(std::string_view text) {
  return value_of(kReasons, text);
}
std::string_view to_string(GateVerdict verdict) {
  return word_of(kGateVerdicts, verdict);
}
std::optional<GateVerdict> gate_verdict_from(std::string_view text) {
  return value_of(kGateVerdicts, text);
}

}  // namespace apo
