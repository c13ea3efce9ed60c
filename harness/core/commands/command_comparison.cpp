// harness/core/commands/command_comparison.cpp - the words of a judgement of two commands.
#include "harness/core/commands/command_comparison.h"

namespace apo {

std::string verdict_word(const CommandComparison& comparison) {
  if (!comparison.judgement) {
    return "";
  }
  return std::string(comparison.gate ? to_string(*comparison.gate) : to_string(comparison.judgement->verdict));
}

std::string reason_word(const CommandComparison& comparison) {
  return comparison.judgement && !comparison.gate ? std::string(to_string(comparison.judgement->reason)) : "";
}

std::string correctness_text(const CommandComparison& comparison) {
  return comparison.correct.empty() ? "Correctness was not checked."
                                    : "Correctness was checked by '" + comparison.correct + "' alone.";
}

}  // namespace apo
