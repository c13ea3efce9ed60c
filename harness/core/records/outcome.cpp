// harness/core/records/outcome.cpp - which outcomes last, and the word of a gate.
#include "harness/core/records/outcome.h"

namespace apo {

bool is_lasting(Outcome outcome) {
  return outcome != Outcome::valid && outcome != Outcome::unstable_clock && outcome != Outcome::no_change;
}

std::string_view outcome_text(const GateResult& gate) {
  return gate.ran ? to_string(gate.outcome) : "not checked";
}

}  // namespace apo
