// harness/research/memory/contradictions.h - where hand-kept journals say two things of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/core/hand_kept/hand_kept.h"

namespace apo {

enum class ContradictionKind : std::uint8_t {
  effects,    // one change, measured more than once with different results
  numbers,    // one quantity of one configuration under several values
  devices,    // one device under several names
  verdicts,   // one change accepted and reverted
  left_in,    // one change reverted and in the code
  arithmetic  // a change that its own two numbers do not give
};
std::string_view to_string(ContradictionKind kind);

struct Contradiction {
  ContradictionKind kind = ContradictionKind::effects;
  std::string sentence;            // with the places
  std::vector<std::string> lines;  // "E88 journal, line 841", in the order of the journals
};

// Rows are about the same where device, subject, scope, unit and techniques are equal, they state an axis in common,
// and none differs; of a loss all axes must be equal, because the length of a run is one of them. Effects contradict
// each other where they are a hundredth and half of the larger one apart, numbers where they are a fifth apart, counts
// at once.
std::vector<Contradiction> find_contradictions(const std::vector<HandKeptJournal>& journals);

}  // namespace apo
