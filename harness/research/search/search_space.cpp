// harness/research/search/search_space.cpp - indexes the legal configurations and links the neighbours.
#include "harness/research/search/search_space.h"

#include <utility>

#include "harness/core/error.h"

namespace apo {

SearchSpace::SearchSpace(std::vector<SearchParameter> parameters, std::vector<Levels> legal)
    : parameters_(std::move(parameters)), legal_(std::move(legal)) {
  if (legal_.empty()) {
    throw UserError("the space has no legal configuration",
                    "relax the apo:requires lines of the variant, or choose another workload");
  }
  for (std::size_t i = 0; i < legal_.size(); ++i) {
    APO_CHECK(legal_[i].size() == parameters_.size());
    if (!indices_.emplace(legal_[i], i).second) {
      throw UserError("the space has a configuration twice", "remove one of the two");
    }
  }
  for (const Levels& levels : legal_) {
    neighbours_.push_back(neighbours_of(levels));
  }
}

std::optional<std::size_t> SearchSpace::find(const Levels& levels) const {
  const auto found = indices_.find(levels);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> SearchSpace::neighbours_of(const Levels& levels) const {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    Levels changed = levels;
    for (std::size_t below = levels[p]; below-- > 0;) {
      changed[p] = below;
      if (const auto index = find(changed)) {
        found.push_back(*index);
        if (parameters_[p].ordered) {
          break;
        }
      }
    }
    for (std::size_t above = levels[p] + 1; above < parameters_[p].levels; ++above) {
      changed[p] = above;
      if (const auto index = find(changed)) {
        found.push_back(*index);
        if (parameters_[p].ordered) {
          break;
        }
      }
    }
  }
  return found;
}

}  // namespace apo
