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
// What an undecided case is: of variants an error, of the benchmarks of a suite, which passes without them, skipped.
enum class Unresolved { error, skipped };
// Writes JUnit's XML with a testcase for each stored variant or benchmark: a regression is a failure.
std::string gate_junit(const std::vector<GatedPair>& gated, Unresolved unresolved);

}  // namespace apo
