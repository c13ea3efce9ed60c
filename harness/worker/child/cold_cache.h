// harness/worker/child/cold_cache.h - evicts memory from every level of the CPU's caches.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace apo {

// On x86 line by line with clflushopt (clflush where there is none); elsewhere by reading a buffer twice as large as
// the last-level cache. Complete when it returns.
void evict(const std::vector<std::span<const std::byte>>& ranges);

}  // namespace apo
