// harness/research/prediction/statements.h - what is said of the effects between a family's configurations, measured or
// promised.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/research/prediction/effects.h"
#include "harness/research/prediction/evidence.h"

namespace apo {

struct Statements {
  std::map<std::pair<std::string, std::string>, std::size_t> nodes;  // by label and source
  std::vector<StatedEffect> effects;                                 // between them
  std::optional<std::size_t> find(const Subject& subject) const;
};

// Judgements here, on other machines and on other workloads, the newest thousand; each variant's apo:predict, else what
// its techniques gave elsewhere; what proposers say of settings; that other texts and other settings of a variant are
// much like its present text and its defaults.
Statements collect_statements(const ResearchInputs& inputs, const Evidence& evidence);

}  // namespace apo
