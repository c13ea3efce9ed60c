// harness/cli/trust/gate_document.h - prints the result of `apo gate` for people, programs and CI servers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/loop/gate/gate.h"

namespace apo {

// Of all together: regressed or failed before undecided before passed.
GateVerdict overall(const std::vector<GatedVariant>& gated);

std::string gate_text(const std::vector<GatedVariant>& gated);
nlohmann::ordered_json gate_document(const std::vector<GatedVariant>& gated, double margin);
// JUnit's XML: a regression is a failure, what could not be decided an error. A testcase for each stored variant.
std::string gate_junit(const std::vector<GatedVariant>& gated);

}  // namespace apo
