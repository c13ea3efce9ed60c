// harness/profile/conditions.h - which counters a profile reads, and in which state it finds the caches.
#pragma once

#include <string>
#include <vector>

#include "harness/worker/protocol/protocol.h"

namespace apo {

// Which hardware counters of a GPU are read besides the times.
struct CounterChoice {
  std::vector<std::string> metrics;  // these alone; empty: the default set, or the full one
  bool full = false;
};

// "cold caches", how the conditions of every profile begin.
inline std::string caches_text(CachePolicy cache) {
  return cache == CachePolicy::cold ? "cold caches" : "warm caches";
}

}  // namespace apo
