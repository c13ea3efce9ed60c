// harness/research/search/search_space.cpp - indexes the legal points and finds their neighbours.
#include "harness/research/search/search_space.h"

#include <utility>

#include "harness/core/error.h"

namespace apo {

SearchSpace::SearchSpace(Levels counts, std::vector<Levels> legal)
    : counts_(std::move(counts)), legal_(std::move(legal)) {
  for (std::size_t i = 0; i < legal_.size(); ++i) {
    APO_CHECK(legal_[i].size() == counts_.size());
    indices_.emplace(legal_[i], i);
  }
}

std::optional<std::size_t> SearchSpace::find(const Levels& levels) const {
  const auto found = indices_.find(levels);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> SearchSpace::neighbours(std::size_t index) const {
  std::vector<std::size_t> found;
  for (std::size_t p = 0; p < counts_.size(); ++p) {
    for (const bool up : {false, true}) {
      Levels levels = legal_[index];
      std::optional<std::size_t> next;
      while (!next && (up ? levels[p] + 1 < counts_[p] : levels[p] > 0)) {
        levels[p] = up ? levels[p] + 1 : levels[p] - 1;
        next = find(levels);
      }
      if (next) {
        found.push_back(*next);
      }
    }
  }
  return found;
}

}  // namespace apo
