// harness/research/search/model_search.h - evaluates what a model of the space says is most likely to be faster.
#pragma once

#include "harness/research/search/strategy.h"

namespace apo {

class ModelSearch : public SearchStrategy {
 public:
  std::string_view name() const override { return "model"; }
  std::optional<std::size_t> next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                  std::uint64_t seed) const override;
};

}  // namespace apo
