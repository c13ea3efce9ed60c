// harness/research/search/strategies.cpp - the table of strategies.
#include "harness/research/search/strategies.h"

#include "harness/core/error.h"
#include "harness/core/text.h"
#include "harness/research/search/annealing_search.h"
#include "harness/research/search/greedy_search.h"
#include "harness/research/search/model_search.h"
#include "harness/research/search/random_search.h"

namespace apo {

const std::vector<const SearchStrategy*>& search_strategies() {
  static const RandomSearch random;
  static const GreedySearch greedy;
  static const AnnealingSearch annealing;
  static const ModelSearch model;
  static const std::vector<const SearchStrategy*> all = {&random, &greedy, &annealing, &model};
  return all;
}

const SearchStrategy& search_strategy(const std::string& name) {
  std::vector<std::string> names;
  for (const SearchStrategy* strategy : search_strategies()) {
    if (strategy->name() == name) {
      return *strategy;
    }
    names.emplace_back(strategy->name());
  }
  const std::string guess = did_you_mean(name, names);
  throw UserError("unknown strategy '" + name + "'",
                  (guess.empty() ? "" : guess + "  ") + "known: " + join(names, ", "));
}

}  // namespace apo
