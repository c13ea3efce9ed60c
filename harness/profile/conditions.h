// harness/profile/conditions.h - which counters a profile reads, and in which state it finds the caches.
#pragma once

#include <string>
#include <vector>

#include "harness/worker/protocol/protocol.h"

namespace apo {

// Selects the hardware counters of a GPU that are read besides the times.
struct CounterChoice {
  std::vector<std::string> metrics;  // these alone; empty: the default set, or the full one
  bool full = false;
};

// The begin of every profile's conditions: "cold caches".
inline std::string caches_text(CachePolicy cache) {
  return cache == CachePolicy::cold ? "cold caches" : "warm caches";
}

}  // namespace apo
