// harness/research/search/search_space.h - the legal settings of a variant as points of a grid.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace apo {

// One level of each tunable, from 0: its values in order of their size.
using Levels = std::vector<std::size_t>;

class SearchSpace {
 public:
  // `counts` has the number of levels of each tunable; no two entries of `legal` are equal.
  SearchSpace(Levels counts, std::vector<Levels> legal);

  const Levels& counts() const { return counts_; }
  std::size_t size() const { return legal_.size(); }
  const Levels& point(std::size_t index) const { return legal_[index]; }
  // Returns the index of these levels; nullopt if they are not legal.
  std::optional<std::size_t> find(const Levels& levels) const;
  // Returns the next legal level of each tunable in both directions.
  std::vector<std::size_t> neighbours(std::size_t index) const;

 private:
  Levels counts_;
  std::vector<Levels> legal_;
  std::map<Levels, std::size_t> indices_;
};

}  // namespace apo
