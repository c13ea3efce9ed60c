// harness/core/guards.h - the guards of the judge by name, with a switch for each for experiments.
//
// docs/guards.md says what each one stops. Switching one off is for measuring what it is good for: a program that has
// one off writes to no journal and adds no variant, so that nothing it finds can become an incumbent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace apo {

enum class Guard : std::uint8_t {
  process,
  deadline,
  memory_limit,
  build,
  poison,
  reference,
  regimes,
  shapes,
  guard_zones,
  fences,
  inputs,
  repeat,
  freeze,
  seccomp,
  landlock,
  reply,
  code,
  clocks,
  second_clock,
  parent_clock,
  idle,
  signals,
  floor,
  timed_check,
  fresh_inputs,
  state,
  l2,
  rival,
  same_code,
  sanitizers,
  executor,
  judge,
};

struct GuardRow {
  Guard guard;
  const char* name;
  const char* rule;  // what it insists on, in one line
  // False where a candidate would take the machine with it, or where the guard is the whole of a stage.
  bool can_be_off;
};

std::span<const GuardRow> guard_rows();  // each guard once, in the order of the enumeration
std::string_view to_string(Guard guard);
std::optional<Guard> guard_from(std::string_view name);

// On from the start of the program. Only an experiment's command line, and the parent of a worker, switch one off, and
// do so before any thread is started.
bool guard_is_on(Guard guard);
void switch_off(Guard guard);
std::vector<std::string> guards_off();

}  // namespace apo
