// harness/research/search/strategy.h - the interface of strategies, which choose the configuration to evaluate next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/research/search/search_space.h"

namespace apo {

struct Evaluated {
  std::size_t point = 0;  // of the space
  double cost = 0;        // log time, to be small; infinite for a configuration that is invalid
};

class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  virtual std::string_view name() const = 0;
  // The point to evaluate next, which is not in the history; nullopt once all are. A pure function: the same history
  // and seed give the same point, so that an interrupted search goes on from what it has seen. Costs of the history are
  // not NaN.
  virtual std::optional<std::size_t> next(const SearchSpace& space, const std::vector<Evaluated>& history,
                                          std::uint64_t seed) const = 0;
};

}  // namespace apo
