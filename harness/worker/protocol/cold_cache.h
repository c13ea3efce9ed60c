// harness/worker/protocol/cold_cache.h - evicts memory from every level of the CPU's caches.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace apo {

// Flushes line by line with clflushopt (or clflush) on x86; elsewhere reads a buffer twice as large as the last-level
// cache. The flush is complete on return.
void evict(const std::vector<std::span<const std::byte>>& ranges);

}  // namespace apo
