// harness/research/memory/hand_kept_priors.h - what hand-kept journals let expect of a technique: little, and that
// wide.
#pragma once

#include <string>
#include <vector>

#include "harness/core/hand_kept/hand_kept.h"

namespace apo {

struct HandKeptPrior {
  std::vector<std::string> techniques;  // by name
  double effect = 0;                    // log speed-up of the kernel that they are added to
  double sd = 0;
  std::string source;  // "E88 journal, lines 826, 1150"
};

// One for each document and set of techniques: of the measured kernel times of this family and target that nothing
// superseded, or, where there are none, of what was promised. Standard deviations add in squares: what the rows differ
// by, and for each row what its evidence lacks (hand_kept_priors.cpp has the numbers). Rows of one document repeat each
// other's mistakes, so that more of them make nothing more certain.
std::vector<HandKeptPrior> hand_kept_priors(const std::vector<HandKeptJournal>& journals, const std::string& family,
                                            Target target, const Axes& axes);

}  // namespace apo
