// harness/core/techniques/techniques.h - the catalogue: prior knowledge of each technique.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/core/techniques/technique.h"

namespace apo {

// Returns the names of the bottlenecks that a technique may attack. The rules of harness/research/diagnosis find them;
// docs/diagnoses.md explains them.
const std::vector<std::string>& bottleneck_names();

// Returns the names beside the axes that a technique's `requires` may use, all of whole numbers: SM (90 of sm_90), SMS,
// UNITS, BYTES (compulsory), L2 (bytes), SCRATCH (bytes of the incumbent's buffers), and of the incumbent's launch
// BLOCKS, BLOCK_THREADS, REGISTERS, SHARED (bytes a block).
const std::vector<std::string>& requirement_facts();

// techniques.json beside this file, read once. Throws UserError as parse_techniques does.
const std::vector<Technique>& technique_catalogue();

// Reads a list of objects with the keys name, target ("host", "cuda" or "any"), attacks, cost, low, high, source, and,
// where there are any, families, requires, precondition, excludes and builds_on. Throws UserError with `file`, the
// technique, and what is wrong there: no JSON, a key that is missing, unknown or of another type, a name that stands
// twice, a technique that excludes itself or none, one that is built on itself directly or not, a `requires` that does
// not parse or names nothing.
std::vector<Technique> parse_techniques(const std::string& text, const std::string& file);

// Returns the entry for this target; nullptr when unknown.
const Technique* find_technique(std::string_view name, Target target);

bool attacks(const Technique& technique, std::string_view bottleneck);
// True when one of `techniques` is known to attack the bottleneck.
bool any_attacks(const std::vector<std::string>& techniques, Target target, std::string_view bottleneck);

}  // namespace apo
