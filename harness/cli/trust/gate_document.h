// harness/cli/trust/gate_document.h - prints the result of `apo gate` for people, programs and CI servers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/loop/gate/gate.h"

namespace apo {

// The verdict over all variants: regressed or failed comes before undecided, and that before passed.
GateVerdict overall(const std::vector<GatedPair>& gated);

std::string gate_text(const std::vector<GatedPair>& gated);
nlohmann::ordered_json gate_document(const std::vector<GatedPair>& gated, double margin);
// Writes JUnit's XML with a testcase for each stored variant: a regression is a failure, an undecided variant an error.
std::string gate_junit(const std::vector<GatedPair>& gated);

}  // namespace apo
