// harness/research/search/replayed_search.h - how many evaluations a strategy needs in a space whose costs are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/research/search/strategy.h"

namespace apo {

// A space of which all configurations were evaluated.
struct RecordedSpace {
  SearchSpace space;
  std::vector<double> costs;  // log time of each point; infinite for an invalid one
};

// Of 5 %: a configuration is good enough when it takes at most 1.05 times as long as the best.
inline constexpr double kGoodEnough = 1.05;

// Counts the evaluations until the first that is good enough.
std::size_t evaluations_until_good(const RecordedSpace& recorded, const SearchStrategy& strategy, std::uint64_t seed);

struct SearchScore {
  double lower_quartile = 0;  // of the evaluations over the seeds
  double median = 0;
  double upper_quartile = 0;
};
// Over seeds 1 to `seeds`. Throws UserError when no configuration is valid.
SearchScore score_search(const RecordedSpace& recorded, const SearchStrategy& strategy, int seeds);

// Configurations that are good enough.
std::size_t count_good(const RecordedSpace& recorded);

}  // namespace apo
