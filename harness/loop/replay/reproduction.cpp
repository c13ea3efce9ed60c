// harness/loop/replay/reproduction.cpp - compares verdict, interval or outcome, and lists what differs.
#include "harness/loop/replay/reproduction.h"

#include <fmt/format.h>

#include "harness/core/error.h"
#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "harness/evaluate/judge/preset.h"

namespace apo {
namespace {

bool was_timed(const Judgement& judgement) {
  return judgement.reason != Reason::gate_failed && judgement.rounds > 0;
}

std::string interval(const Judgement& one) {
  return format_interval(one.speedup(), one.speedup_lower(), one.speedup_upper()).all();
}

std::string quoted(std::string_view word) {
  return "'" + std::string(word) + "'";
}

void add_difference(std::vector<std::string>& lines, const std::string& what, const std::string& then,
                    const std::string& now) {
  if (then != now) {
    lines.push_back(what + ": " + (then.empty() ? "none" : then) + " then, " + (now.empty() ? "none" : now) + " now");
  }
}

}  // namespace

Reproduction reproduction_of(const Experiment& original, const Experiment& again) {
  APO_CHECK(original.judgement && again.judgement);
  const Judgement& then = *original.judgement;
  const Judgement& now = *again.judgement;
  if (was_timed(then) != was_timed(now)) {
    return {false, was_timed(then) ? "it was timed then, and now: " + now.sentence
                                   : "it was not timed then (" + std::string(to_string(original.outcome)) +
                                         "), and now it passes the gates"};
  }
  if (then.verdict != now.verdict) {
    return {false, "the verdict was " + quoted(to_string(then.verdict)) + " and is " + quoted(to_string(now.verdict))};
  }
  if (!was_timed(then)) {
    const bool same = original.outcome == again.outcome;
    return {same, same ? "not timed, for the same outcome " + quoted(to_string(again.outcome))
                       : "the outcome was " + quoted(to_string(original.outcome)) + " and is " +
                             quoted(to_string(again.outcome))};
  }
  // Written so that a bound that is no number reproduces nothing.
  if (now.upper >= then.lower && now.lower <= then.upper) {
    return {true, "the same verdict, and " + interval(now) + " agrees with " + interval(then)};
  }
  return {false, "the same verdict, but " + interval(now) + " does not overlap " + interval(then)};
}

std::vector<std::string> machine_differences(const Machine& then, const Machine& now) {
  std::vector<std::string> lines;
  add_difference(lines, "machine", then.model + " " + then.id, now.model + " " + now.id);
  add_difference(lines, "cores", std::to_string(then.cores), std::to_string(now.cores));
  add_difference(lines, "kernel", then.kernel, now.kernel);
  add_difference(lines, "governor", then.governor, now.governor);
  add_difference(lines, "instruction set", then.isa, now.isa);
  add_difference(lines, "driver", then.driver, now.driver);
  add_difference(lines, "memory", format_bytes(static_cast<double>(then.memory_bytes)),
                 format_bytes(static_cast<double>(now.memory_bytes)));
  for (const auto& [name, value] : then.facts) {
    const auto found = now.facts.find(name);
    add_difference(lines, name, value, found == now.facts.end() ? "" : found->second);
  }
  for (const auto& [name, value] : now.facts) {
    if (!then.facts.contains(name)) {
      add_difference(lines, name, "", value);
    }
  }
  return lines;
}

std::vector<std::string> judge_differences(const std::optional<Machine>& then, const Machine& now,
                                           const std::string& rule) {
  std::vector<std::string> lines = then ? machine_differences(*then, now) : std::vector<std::string>();
  if (!rule.empty() && rule != kRuleVersion) {
    lines.push_back(fmt::format("rule of the judge: {} then, {} now", rule, kRuleVersion));
  }
  return lines;
}

std::vector<std::string> build_differences(const Experiment& original, const Experiment& again) {
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& arm, const Build& then, const Build& now) {
    if (then.key.empty() || now.key.empty()) {
      return;  // one of them was never built
    }
    add_difference(lines, "compiler of the " + arm, then.toolchain.version, now.toolchain.version);
    add_difference(lines, "flags of the " + arm, join(then.flags, " "), join(now.flags, " "));
    if (then.code_hash != now.code_hash) {
      lines.push_back("machine code of the " + arm + ": not what it was");
    }
  };
  compare("candidate", original.candidate_build, again.candidate_build);
  compare("incumbent", original.incumbent_build, again.incumbent_build);
  return lines;
}

}  // namespace apo
