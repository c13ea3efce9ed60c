// harness/core/guards.h - the guards of the judge by name, with a switch for each for experiments.
//
// docs/guards.md has the attacks that each one stops. Guards are switched off to measure their value: a program with a
// guard off writes to no journal and adds no variant, so that its findings cannot become an incumbent.
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
  windows,
  seccomp,
  landlock,
  room,
  reply,
  code,
  floor,
  timed_check,
  fresh_inputs,
  state,
  l2,
  same_code,
  sanitizers,
  executor,
  judge,
};

struct GuardRow {
  Guard guard;
  const char* name;
  const char* rule;  // what it insists on, in one line
  // False if switching it off would endanger the machine, or if the guard is a whole stage.
  bool can_be_off;
};

std::span<const GuardRow> guard_rows();  // each guard once, in the order of the enumeration
std::string_view to_string(Guard guard);
std::optional<Guard> guard_from(std::string_view name);

// Guards are on when the program starts. Only an experiment's command line and the parent of a worker switch one off,
// before any thread starts.
bool guard_is_on(Guard guard);
void switch_off(Guard guard);
std::vector<std::string> guards_off();

}  // namespace apo
