// harness/research/search/strategies.h - all strategies, by name.
#pragma once

#include <string>
#include <vector>

#include "harness/research/search/strategy.h"

namespace apo {

// random, greedy, annealing, model
const std::vector<const SearchStrategy*>& search_strategies();
// Throws UserError with the nearest name.
const SearchStrategy& search_strategy(const std::string& name);

}  // namespace apo
