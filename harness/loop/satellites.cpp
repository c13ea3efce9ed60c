// harness/loop/satellites.cpp - hands out each candidate once, the best first.
#include "harness/loop/satellites.h"

#include <algorithm>

namespace apo {

std::optional<Candidate> RankedCandidates::best() const {
  const auto found = std::ranges::find_if(
      ranked_, [&](const Candidate& candidate) { return !taken_.contains(candidate.configuration.label()); });
  return taken_.size() >= most_ || found == ranked_.end() ? std::nullopt : std::optional(*found);
}

std::optional<Candidate> RankedCandidates::take() {
  std::optional<Candidate> candidate = best();
  if (candidate) {
    taken_.insert(candidate->configuration.label());
  }
  return candidate;
}

void RankedCandidates::rank_anew() {
  if (taken_.size() < most_) {
    ranked_ = rank_();
  }
}

}  // namespace apo
