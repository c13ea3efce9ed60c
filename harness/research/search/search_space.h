// harness/research/search/search_space.h - the legal configurations of a variant as points that strategies walk over.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// Its values are levels, 0 to levels - 1: numbers in order of their size, words in any order.
struct SearchParameter {
  std::string name;
  std::size_t levels = 1;
  bool ordered = true;  // false: no level is nearer to one than another is
};

using Levels = std::vector<std::size_t>;  // one of each parameter

class SearchSpace {
 public:
  // Throws UserError when no configuration is legal, and when two are the same.
  SearchSpace(std::vector<SearchParameter> parameters, std::vector<Levels> legal);

  const std::vector<SearchParameter>& parameters() const { return parameters_; }
  std::size_t size() const { return legal_.size(); }
  const Levels& point(std::size_t index) const { return legal_[index]; }
  // The index of a configuration; nullopt when it is not legal.
  std::optional<std::size_t> find(const Levels& levels) const;
  // The next legal level of each parameter in both directions, of a parameter without order every other one.
  const std::vector<std::size_t>& neighbours(std::size_t index) const { return neighbours_[index]; }

 private:
  std::vector<std::size_t> neighbours_of(const Levels& levels) const;

  std::vector<SearchParameter> parameters_;
  std::vector<Levels> legal_;
  std::map<Levels, std::size_t> indices_;
  std::vector<std::vector<std::size_t>> neighbours_;
};

}  // namespace apo
